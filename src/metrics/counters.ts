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

export type Increments = readonly Sample[];

/** Returns a key of the series, many times cheaper than its text. A family always has the same labels. */
function keyOf({ family, labels, part }: Sample): string {
  let key = typeof part === "object" ? `${family} ${part.le}` : `${family} ${part}`;
  for (const name in labels) key += `\0${labels[name]}`;
  return key;
}

/** Counters of a worker until the supervisor collects them. */
export class Counters {
  readonly #samples = new Map<string, Sample & { value: number }>();

  count<N extends FamilyName>(family: N, labels: LabelsOf<N>, by = 1): void {
    this.addAll([sample(family, labels, by)]);
  }

  addAll(increments: Increments): void {
    for (const increment of increments) {
      const series = keyOf(increment);
      const counted = this.#samples.get(series);
      if (counted === undefined) this.#samples.set(series, { ...increment });
      else counted.value += increment.value;
    }
  }

  take(): Increments {
    const taken = [...this.#samples.values()];
    this.#samples.clear();
    return taken;
  }

  /** Samples in the order of first use. */
  get samples(): Iterable<Sample> {
    return this.#samples.values();
  }
}

/** Bucket bounds in milliseconds, without the infinite one. */
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** Histogram of durations, added in milliseconds and exposed in seconds. */
export class DurationHistogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  /** Number of durations since the last {@link moveTo}. */
  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  add(ms: number): void {
    let bucket = 0;
    while (ms > (BOUNDS_MS[bucket] ?? Infinity)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumMs += ms;
  }

  moveTo<N extends FamilyName>(counters: Counters, name: N, labels: LabelsOf<N>): void {
    const samples: Sample[] = [];
    let below = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      below += count;
      const bound = BOUNDS_MS[bucket];
      const le = bound === undefined ? "+Inf" : String(bound / 1000);
      samples.push({ family: name, labels, part: { le }, value: below });
    }
    samples.push({ family: name, labels, part: "sum", value: this.#sumMs / 1000 });
    samples.push({ family: name, labels, part: "count", value: below });
    counters.addAll(samples);
    this.#counts.fill(0);
    this.#sumMs = 0;
  }
}
