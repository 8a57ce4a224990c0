import type { Clock } from "../model/clock.ts";

/** Keys seen within some time, in bounded space: the one seen longest ago makes room. */
export class RecentKeys {
  readonly #seen = new Map<string, number>();
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

  add(key: string): void {
    this.#seen.delete(key);
    this.#seen.set(key, this.#now());
    if (this.#seen.size <= this.#capacity) return;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
