/** Increments of series, with the text that {@link series} makes as key. */
export type Increments = readonly (readonly [series: string, by: number])[];

/** Counts what happens in a room until the supervisor fetches it, or the other way round what all rooms have sent. */
export class Counters {
  readonly #values = new Map<string, number>();

  add(series: string, by = 1): void {
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  addAll(increments: Increments): void {
    for (const [series, by] of increments) this.add(series, by);
  }

  /** All that was counted since the last call. */
  take(): Increments {
    const taken = [...this.#values];
    this.#values.clear();
    return taken;
  }

  get values(): ReadonlyMap<string, number> {
    return this.#values;
  }
}
