import { printable } from "../model/printable.ts";

/**
 * Rows in columns that are as wide as needed, two blanks apart.
 * @param options.indent Blanks from the left; default none.
 * @param options.widest Cells above this width do not push the next column to the right in other rows.
 * @param options.widths Least widths of the columns, raised to those that were needed: for a table in several parts.
 */
export function textTable(
  rows: readonly (readonly string[])[],
  { indent = 0, widest = Infinity, widths = [] }: {
    readonly indent?: number;
    readonly widest?: number;
    readonly widths?: number[];
  } = {},
): string {
  const shown = rows.map((row) => row.map(printable));
  for (const row of shown) {
    for (const [i, cell] of row.entries()) {
      widths[i] = Math.max(widths[i] ?? 0, Math.min(cell.length, widest));
    }
  }
  return shown.map((row) => {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
    return `${" ".repeat(indent)}${line.trimEnd()}\n`;
  }).join("");
}
