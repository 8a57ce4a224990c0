import type { Credential } from "../pki/authority.ts";

/** What can go wrong on the command socket (daemon-protocol.md 7). "Not listening" is `DaemonSimulator.stop`. */
export type CommandFault =
  /** Accepts and never speaks; the connections behind it wait until the client gives up. */
  | { readonly kind: "hang-before-handshake" }
  | { readonly kind: "close-at-once" }
  | { readonly kind: "reset-at-once" }
  /** Speaks plain text where TLS is expected: the greeting of the listen socket, say. */
  | { readonly kind: "plain-text" }
  /** Shows another certificate: expired, forged or of an unknown authority. */
  | { readonly kind: "certificate"; readonly credential: Credential }
  /** Does not trust the certificate of the client. */
  | { readonly kind: "distrust" }
  /** Handshake, then closed without a byte. */
  | { readonly kind: "not-in-acl" }
  /** From here on the request has been served, and a session been registered, though the client cannot know. */
  | { readonly kind: "close-without-reply" }
  | { readonly kind: "hang-after-request" }
  /** Sends that many bytes of the reply, then closes. */
  | { readonly kind: "partial-reply"; readonly bytes: number }
  | { readonly kind: "hang-after-partial-reply"; readonly bytes: number }
  /** The reply without its last LF. */
  | { readonly kind: "unterminated-reply" }
  | { readonly kind: "reset-after-reply" }
  /** Answers this instead, and does nothing of what was asked. An `ERROR::…` reply, or garbage. */
  | { readonly kind: "reply"; readonly reply: string | Uint8Array };
