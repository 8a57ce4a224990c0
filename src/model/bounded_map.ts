/**
 * Map of at most `size` entries (at least two), which keeps the most recently used half. A `Map` in which each use moves
 * an entry to the end is rebuilt every few uses, and its dead tables keep others alive until a full garbage collection.
 */
export class BoundedMap<K, V> {
  #recent = new Map<K, V>();
  #older = new Map<K, V>(); // the recent entries when `#recent` was last full

  constructor(readonly size: number) {}

  get(key: K): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /** Returns the value of a key; creates it if absent. */
  getOrInsertComputed(key: K, make: (key: K) => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  set(key: K, value: V): void {
    if (this.#recent.size >= Math.max(1, this.size >> 1) && !this.#recent.has(key)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }

  delete(key: K): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#recent = new Map();
    this.#older = new Map();
  }
}
