interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

/** LRU map. The order is a linked list: re-inserting into `Map` on each read costs five times as much. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;

  constructor(readonly size: number) {}

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#link(entry);
    }
    return entry.value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    const entry = { key, value, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#link(entry);
    if (this.#entries.size > this.size && this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#newest = undefined;
  }

  #link(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
