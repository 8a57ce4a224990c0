import type { Clock } from "./clock.ts";

export interface ReplayEntry {
  readonly owner: string; // account for quotas: something a caller cannot multiply, such as a user
  readonly key: string;
  readonly endsAt: number; // milliseconds since the epoch; the proof cannot be used later
}

/** Record of proofs that are valid once. */
export interface ReplayRecord {
  /** Records a proof. Returns whether it is new. @param perOwner Quota of this owner; default: that of all. */
  note(seen: ReplayEntry, perOwner?: number): boolean | Promise<boolean>;
  forget(key: string): void | Promise<void>;
}

/** Limits for proofs of possession (RFC 9449, 11.1), per owner while the cache is empty; fewer as it fills. */
export const PROOFS = { all: 200_000, perOwner: 5_000 };

/**
 * Replay cache of proofs that are valid once. When it is full, every proof counts as seen. Each owner may hold a share
 * of the free places, so that the greediest are refused first.
 */
export class ReplayCache implements ReplayRecord {
  readonly #entries = new Map<string, { readonly owner: string; readonly endsAt: number }>();
  readonly #counts = new Map<string, number>();
  #purgeAt = -Infinity;

  constructor(
    readonly limits: typeof PROOFS,
    readonly clock: Clock,
    readonly noted: (seen: ReplayEntry) => void = () => {},
  ) {}

  note(seen: ReplayEntry, perOwner = this.limits.perOwner): boolean {
    const now = this.clock();
    this.#purgeExpired(now);
    if (this.#isKnown(seen.key, now)) return false;
    const { all } = this.limits;
    const free = Math.ceil((all - this.#entries.size) * perOwner / all);
    if ((this.#counts.get(seen.owner) ?? 0) >= free) return false;
    this.#put(seen);
    this.noted(seen);
    return true;
  }

  /** Adds entries from another cache, regardless of limits. */
  adopt(seen: Iterable<ReplayEntry>): void {
    const now = this.clock();
    this.#purgeExpired(now);
    for (const one of seen) if (!this.#isKnown(one.key, now)) this.#put(one);
  }

  seen(): ReplayEntry[] {
    const now = this.clock();
    return [...this.#entries].flatMap(([key, { owner, endsAt }]) =>
      endsAt < now ? [] : [{ owner, key, endsAt }]
    );
  }

  #isKnown(key: string, now: number): boolean {
    return (this.#entries.get(key)?.endsAt ?? -Infinity) >= now;
  }

  #put({ owner, key, endsAt }: ReplayEntry): void {
    this.forget(key);
    this.#entries.set(key, { owner, endsAt });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
  }

  forget(key: string): void {
    const owner = this.#entries.get(key)?.owner;
    if (owner === undefined) return;
    this.#entries.delete(key);
    const left = (this.#counts.get(owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }

  /** Runs at most once a second. */
  #purgeExpired(now: number): void {
    if (now < this.#purgeAt) return;
    this.#purgeAt = now + 1000;
    for (const [key, { endsAt }] of this.#entries) if (endsAt < now) this.forget(key);
  }
}
