import type { Counters, Sample } from "./counters.ts";
import type { FamilyName, LabelsOf } from "./families.ts";

/** Bucket bounds in milliseconds, without the infinite one. */
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

/** Histogram of durations. */
export class DurationHistogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  add(ms: number): void {
    let bucket = 0;
    while (ms > (BOUNDS_MS[bucket] ?? Infinity)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumMs += ms;
  }

  /** Moves the counts since the last call. */
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
