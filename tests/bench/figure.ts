/** One measured figure. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What we promise: at least or at most that. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
}

/** Something that can be measured by itself. */
export interface Measurement {
  readonly name: string;
  readonly summary: string;
  readonly run: () => Promise<readonly Figure[]>;
}

export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle] ?? NaN
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** A table for people. */
export function table(rows: readonly (readonly [string, readonly Figure[]])[]): string {
  const lines = [["measurement", "figure", "value", "promised", ""]];
  for (const [name, figures] of rows) {
    for (const figure of figures) {
      lines.push([name, figure.what, format(figure), promise(figure), mark(figure)]);
    }
  }
  const widths = [0, 1, 2, 3].map((i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd()).join(
    "\n",
  );
}

function format({ value, unit }: Figure): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

function promise({ target }: Figure): string {
  if (target === undefined) return "";
  return "atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
}

function mark(figure: Figure): string {
  if (figure.target === undefined) return "";
  return isMet(figure) ? "met" : "MISSED";
}
