import type { FamilyName, LabelsOf } from "./families.ts";
import { type Sample, sample, seriesText } from "./series.ts";

/** What is to be added to series. */
export type Increments = readonly Sample[];

/** Counts what happens in a worker until the supervisor fetches it, or the other way round what all workers have sent. */
export class Counters {
  readonly #samples = new Map<string, Sample>();

  /** Counts something by the name of its metric. */
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

  /** All that was counted since the last call. */
  take(): Increments {
    const taken = [...this.#samples.values()];
    this.#samples.clear();
    return taken;
  }

  /** In the order in which they were first counted. */
  get samples(): Iterable<Sample> {
    return this.#samples.values();
  }
}
