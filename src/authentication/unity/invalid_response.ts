/** An answer of the identity provider that must not be believed; the message is for the log. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}
