/** Error for an unusable certificate, key or store; names no secret. */
export class UnusableStore extends Error {
  override readonly name = "UnusableStore";
}
