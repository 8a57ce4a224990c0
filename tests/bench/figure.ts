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
  /** As `--only` takes it. */
  readonly name: string;
  readonly summary: string;
  /** What a reader of the figures should know. */
  readonly note?: string;
  /** Takes so long that it runs only when it is named; default false. */
  readonly long?: boolean;
  /** Debian packages that it needs besides what all need, and that are not here. Without them it is left out, unless it is named. */
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

/** The value with its unit, as precise as it deserves. */
export function format({ value, unit }: Figure): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value.toLocaleString("en", options)} ${unit}`.trim();
}

/** What was promised of a figure; empty if nothing was. */
export function promise({ target, unit }: Figure): string {
  if (target === undefined) return "";
  return `${"atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`} ${unit}`.trim();
}

/** Whether a promise is met; empty if none was made. */
export function mark(figure: Figure): "" | "met" | "MISSED" {
  if (figure.target === undefined) return "";
  return isMet(figure) ? "met" : "MISSED";
}
