import type { FamilyName, LabelsOf } from "./families.ts";

/**
 * Name and labels of one time series as Prometheus writes them: `authserver_bans{reason="tokens"}`. Such a text is also
 * the key under which its value is kept.
 */
export function series<N extends FamilyName>(name: N, labels: LabelsOf<N>): string {
  return write(name, Object.entries<string>(labels));
}

/** Methods with series of their own. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

/** The method of a request as a label; all that strangers can think of share one. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : "other";
}

/** A series of a histogram: `…_bucket{…,le="0.1"}`, `…_sum{…}`, `…_count{…}`. */
export function histogramSeries<N extends FamilyName>(
  name: N,
  labels: LabelsOf<N>,
  part: { readonly le: string } | "sum" | "count",
): string {
  const entries = Object.entries<string>(labels);
  return part === "sum" || part === "count"
    ? write(`${name}_${part}`, entries)
    : write(`${name}_bucket`, [...entries, ["le", part.le]]);
}

function write(name: string, labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return name;
  return `${name}{${labels.map(([label, value]) => `${label}="${escape(value)}"`).join(",")}}`;
}

/** Backslashes, quotes and line ends, as the text format wants it; other control characters are dropped. */
function escape(value: string): string {
  return value.replace(/[\\"\n]/g, (c) => c === "\n" ? "\\n" : `\\${c}`).replace(/\p{Cc}/gu, "");
}
