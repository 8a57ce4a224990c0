import type { Clock } from "../model/clock.ts";

/** Within this part of its lifetime a key that is seen again and again counts as seen once. */
const ONCE = 1 / 1000;

/** Keys seen within some time, in bounded space: the one seen longest ago, as exactly as {@link ONCE} says, makes room. */
export class RecentKeys {
  readonly #seen = new Map<string, number>();
  /** The moment noted last. */
  #latest = 0;
  readonly #lifetimeMs: number;
  readonly #capacity: number;
  readonly #now: Clock;

  constructor({ lifetimeMs, capacity, now }: { lifetimeMs: number; capacity: number; now: Clock }) {
    this.#lifetimeMs = lifetimeMs;
    this.#capacity = capacity;
    this.#now = now;
  }

  get size(): number {
    return this.#seen.size;
  }

  has(key: string): boolean {
    const at = this.#seen.get(key);
    return at !== undefined && at + this.#lifetimeMs > this.#now();
  }

  /** @returns The moment, unless it counts as seen before. */
  add(key: string): number | undefined {
    const now = this.#now();
    const before = this.#seen.get(key);
    if (before !== undefined && Math.abs(now - before) < this.#lifetimeMs * ONCE) return undefined;
    this.#put(key, now);
    return now;
  }

  /** Keys with the moment they were seen last, in milliseconds since the epoch, at most so many: the latest first. */
  entries(most: number): [string, number][] {
    return [...this.#seen].reverse().slice(0, most);
  }

  /** Takes over what another saw, the latest first; of two moments of one key the later stays. */
  adopt(entries: readonly (readonly [string, number])[]): void {
    const others = [...entries].reverse();
    const isNews = others.every(([, at]) => at >= this.#latest);
    const own = isNews ? [] : [...this.#seen];
    if (!isNews) this.#seen.clear();
    for (const [key, at] of [...others, ...own]) this.#put(key, Math.max(at, this.#seen.get(key) ?? 0));
  }

  #put(key: string, at: number): void {
    this.#seen.delete(key);
    this.#seen.set(key, at);
    this.#latest = Math.max(this.#latest, at);
    if (this.#seen.size <= this.#capacity) return;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
