/** Syntax or evaluation error with its place; contains no external values. */
export class InvalidExpression extends Error {
  readonly line: number; // from 1, as is the column
  readonly column: number;

  /** @param at UTF-16 offset in the source. */
  constructor(source: string, at: number, readonly reason: string) {
    const before = source.slice(0, at).split("\n");
    const line = before.length;
    const column = (before.at(-1) ?? "").length + 1;
    super(`line ${line}, column ${column}: ${reason}`);
    this.line = line;
    this.column = column;
  }
}
