/** One measured figure. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Promised bound of the value. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
}

/** Measurement that can run by itself. */
export interface Measurement {
  /** Name for `--only`. */
  readonly name: string;
  readonly summary: string;
  /** Remark for readers of the figures. */
  readonly note?: string;
  /** Whether it runs only when named or with `AUTHSERVER_LONG_TESTS`, as it takes long; default false. */
  readonly long?: boolean;
  /** Missing Debian packages that only this measurement needs. It is then skipped, or refused if named. */
  readonly lacks?: readonly string[];
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

/** Returns a text table of figures. */
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

/** Returns the rounded value with its unit. */
export function format({ value, unit }: Figure): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value.toLocaleString("en", options)} ${unit}`.trim();
}

/** Returns the promise of a figure, or an empty string if it has none. */
export function promise({ target, unit }: Figure): string {
  if (target === undefined) return "";
  return `${"atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`} ${unit}`.trim();
}

/** Returns `met` or `MISSED`, or an empty string if there is no promise. */
export function mark(figure: Figure): "" | "met" | "MISSED" {
  if (figure.target === undefined) return "";
  return isMet(figure) ? "met" : "MISSED";
}
