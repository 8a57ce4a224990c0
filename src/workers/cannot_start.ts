/** The service cannot start, or not with the new configuration; the lines are for the operator. */
export class CannotStart extends Error {
  override readonly name: string = "CannotStart";

  constructor(readonly diagnostics: readonly string[]) {
    super(diagnostics.join("\n"));
  }
}
