import { printable } from "../model/printable.ts";

/** Rows in columns that are as wide as needed, two blanks apart and `indent` blanks from the left. */
export function textTable(rows: readonly (readonly string[])[], indent = 0): string {
  const shown = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of shown) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return shown.map((row) => {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
    return `${" ".repeat(indent)}${line.trimEnd()}\n`;
  }).join("");
}
