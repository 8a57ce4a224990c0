/** Error of a start or reload; the diagnostics are for the operator. */
export class CannotStart extends Error {
  /** @param permanent Whether another attempt with the same configuration fails, too. */
  constructor(readonly diagnostics: readonly string[], readonly permanent = false) {
    super(diagnostics.join("\n"));
  }
}
