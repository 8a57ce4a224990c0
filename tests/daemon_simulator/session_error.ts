/** Failure that the session reports with its own code; all others become `500`. */
export class SessionError extends Error {
  override readonly name = "SessionError";

  constructor(readonly code: number, message: string, readonly closesData = false) {
    super(message);
  }
}
