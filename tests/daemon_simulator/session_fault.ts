/** What can go wrong with a session on the listen socket (daemon-protocol.md 7). */
export type SessionFault =
  | { readonly kind: "close-at-once" }
  /** Accepts and never greets. */
  | { readonly kind: "no-greeting" }
  /** Answers this to a command, such as `PASS` or `STOR`, and does nothing; after a `5…` to `PASS` it closes. */
  | { readonly kind: "reply"; readonly to: string; readonly reply: string }
  /** The reply to a command without its last LF, then closed. */
  | { readonly kind: "unterminated-reply"; readonly to: string }
  /** Never answers a command, after so many of its kind. */
  | { readonly kind: "hang"; readonly on: string; readonly after?: number }
  /** `230 Login successful`, then closed. */
  | { readonly kind: "close-after-login" }
  /** Names a port for the data connection on which nobody listens. */
  | { readonly kind: "refused-data-port" }
  /** Accepts the data connection and never sends or reads a byte. */
  | { readonly kind: "silent-data" }
  /** Ends the data connection after some bytes, and says this on the control connection; or closes that too. */
  | { readonly kind: "cut-data"; readonly after: number; readonly then: "226" | "ENOSPC" | "EIO" | "close" }
  /** Never says `226`. */
  | { readonly kind: "no-226" }
  /** Lines put in front of a listing, as a file name with line breaks would. */
  | { readonly kind: "injected-listing"; readonly lines: readonly string[] }
  /** The same of `MLSD` and `LIST` alone. */
  | { readonly kind: "injected-directory"; readonly lines: readonly string[] };
