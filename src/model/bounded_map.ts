/** LRU map. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>(); // the oldest first
  #newest: K | undefined;

  constructor(readonly size: number) {}

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    // Moving an entry to the end costs five times as much as reading it.
    if (value !== undefined && key !== this.#newest) this.set(key, value);
    return value;
  }

  /** Returns the value of a key; makes it if it is absent. */
  getOrInsertComputed(key: K, make: (key: K) => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.size) return;
    for (const oldest of this.#entries.keys()) return this.delete(oldest);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
