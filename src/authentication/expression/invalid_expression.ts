/** An expression that cannot be read or evaluated. The message gives the place and names no value from outside. */
export class InvalidExpression extends Error {
  override readonly name = "InvalidExpression";
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;

  /** @param at Offset of the place in the source, in UTF-16 units. */
  constructor(source: string, at: number, readonly reason: string) {
    const before = source.slice(0, at).split("\n");
    const line = before.length;
    const column = (before.at(-1) ?? "").length + 1;
    super(`line ${line}, column ${column}: ${reason}`);
    this.line = line;
    this.column = column;
  }
}
