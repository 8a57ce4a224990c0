import { printable } from "../model/text.ts";

/**
 * Formats rows in columns, two blanks apart.
 * @param options.indent Leading blanks. @param options.widest Wider cells do not widen their column.
 * @param options.widths Minimum widths, updated in place: for a table in several parts.
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
