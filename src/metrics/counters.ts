import type { FamilyName, LabelsOf } from "./families.ts";

/** Series with a value or increment. */
export interface Sample {
  readonly family: FamilyName;
  readonly labels: Readonly<Record<string, string>>;
  /** Histogram part: a bucket in seconds, the sum, or the count. */
  readonly part?: { readonly le: string } | "sum" | "count";
  readonly value: number;
}

/** Creates a sample. */
export function sample<N extends FamilyName>(family: N, labels: LabelsOf<N>, value: number): Sample {
  return { family, labels, value };
}

/** Formats name and labels: `authserver_bans{reason="tokens"}`; `…_bucket{…,le="0.1"}`, `…_sum{…}`. */
export function seriesText({ family, labels, part }: Sample): string {
  const bucket = typeof part === "object" ? part : undefined;
  const name = part === undefined ? family : `${family}_${bucket ? "bucket" : part}`;
  const all = Object.entries({ ...labels, ...bucket });
  if (all.length === 0) return name;
  return `${name}{${all.map(([label, value]) => `${label}="${escape(value)}"`).join(",")}}`;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

/** Returns a method's label; unknown methods share one. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : "other";
}

/** Escapes a label value; drops control characters. */
function escape(value: string): string {
  return value.replace(/[\\"\n]/g, (c) => c === "\n" ? "\\n" : `\\${c}`).replace(/\p{Cc}/gu, "");
}

/** Increments of series. */
export type Increments = readonly Sample[];

/** Counters of a worker until the supervisor collects them. */
export class Counters {
  readonly #samples = new Map<string, Sample>();

  count<N extends FamilyName>(family: N, labels: LabelsOf<N>, by = 1): void {
    this.addAll([sample(family, labels, by)]);
  }

  addAll(increments: Increments): void {
    for (const increment of increments) {
      const text = seriesText(increment);
      const { value = 0 } = this.#samples.get(text) ?? {};
      this.#samples.set(text, { ...increment, value: value + increment.value });
    }
  }

  /** Returns and resets the counts. */
  take(): Increments {
    const taken = [...this.#samples.values()];
    this.#samples.clear();
    return taken;
  }

  /** In the order of first use. */
  get samples(): Iterable<Sample> {
    return this.#samples.values();
  }
}
