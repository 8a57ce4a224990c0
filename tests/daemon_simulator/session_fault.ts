/** Faults of a session on the listen socket (daemon-protocol.md 7). */
export type SessionFault =
  | { readonly kind: "close-at-once" }
  /** Accepts and never greets. */
  | { readonly kind: "no-greeting" }
  /**
   * Sends this reply to a command, such as `PASS` or `STOR`, and does nothing else; after `PASS` it closes.
   */
  | { readonly kind: "reply"; readonly to: string; readonly reply: string }
  /** Sends the reply to a command without its last LF, then closes. */
  | { readonly kind: "unterminated-reply"; readonly to: string }
  /** Stops answering a command, after that many of its kind. */
  | { readonly kind: "hang"; readonly on: string; readonly after?: number }
  /** Sends `230 Login successful`, then closes. */
  | { readonly kind: "close-after-login" }
  /** Names a port for the data connection on which nothing listens. */
  | { readonly kind: "refused-data-port" }
  /** Accepts the data connection and never sends or reads a byte. */
  | { readonly kind: "silent-data" }
  /**
   * Ends the data connection after some bytes, then sends this on the control connection, or closes it, too.
   */
  | { readonly kind: "cut-data"; readonly after: number; readonly then: "226" | "ENOSPC" | "EIO" | "close" }
  /** Never sends `226`. */
  | { readonly kind: "no-226" }
  /** Puts lines in front of a listing, as a file name with line breaks would. */
  | { readonly kind: "injected-listing"; readonly lines: readonly string[] }
  /** Does the same for `MLSD` and `LIST` only. */
  | { readonly kind: "injected-directory"; readonly lines: readonly string[] };
