/** Why a certificate, key or store cannot be used; the message says what was expected and names nothing secret. */
export class UnusableStore extends Error {
  override readonly name = "UnusableStore";
}
