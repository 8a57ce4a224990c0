import type { Credential } from "../pki/authority.ts";

/** Faults of the command socket (daemon-protocol.md 7). "Not listening" is `DaemonSimulator.stop`. */
export type CommandFault =
  /** Accepts and sends nothing; later connections wait until the client gives up. */
  | { readonly kind: "hang-before-handshake" }
  | { readonly kind: "close-at-once" }
  | { readonly kind: "reset-at-once" }
  /** Sends plain text where the client expects TLS, such as the greeting of the listen socket. */
  | { readonly kind: "plain-text" }
  /** Presents another certificate: expired, forged or of an unknown authority. */
  | { readonly kind: "certificate"; readonly credential: Credential }
  /** Does not trust the certificate of the client. */
  | { readonly kind: "distrust" }
  /** Closes after the handshake without sending a byte. */
  | { readonly kind: "not-in-acl" }
  /** From this fault on, the daemon has served the request and registered a session, unknown to the client. */
  | { readonly kind: "close-without-reply" }
  | { readonly kind: "hang-after-request" }
  /** Sends that many bytes of the reply, then closes. */
  | { readonly kind: "partial-reply"; readonly bytes: number }
  | { readonly kind: "hang-after-partial-reply"; readonly bytes: number }
  /** Sends the reply without its last LF. */
  | { readonly kind: "unterminated-reply" }
  | { readonly kind: "reset-after-reply" }
  /** Sends this instead, such as an `ERROR::…` reply or garbage, and does not serve the request. */
  | { readonly kind: "reply"; readonly reply: string | Uint8Array };
