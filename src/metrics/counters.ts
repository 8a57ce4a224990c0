import type { FamilyName, LabelsOf } from "./families.ts";
import { type Sample, sample, seriesText } from "./series.ts";

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
