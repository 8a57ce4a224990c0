import type { Clock } from "./clock.ts";

export interface SeenMark {
  readonly owner: string; // account for quotas: something a caller cannot multiply, such as a user
  readonly mark: string;
  readonly endsAt: number; // milliseconds since the epoch; the mark cannot be used later
}

/** Record of marks that are valid once. */
export interface ReplayRecord {
  /** Records a mark. Returns whether it is new. @param perOwner Quota of this owner; default: that of all. */
  note(seen: SeenMark, perOwner?: number): boolean | Promise<boolean>;
  forget(mark: string): void | Promise<void>;
}

/** Limits for proofs of possession (RFC 9449, 11.1), per owner while the cache is empty; fewer as it fills. */
export const PROOFS = { all: 200_000, perOwner: 5_000 };

/**
 * Replay cache of marks that are valid once. When it is full, every mark counts as seen. Each owner may hold a share
 * of the free places, so that the greediest are refused first.
 */
export class ReplayCache implements ReplayRecord {
  readonly #marks = new Map<string, { readonly owner: string; readonly endsAt: number }>();
  readonly #counts = new Map<string, number>();
  #lookAt = -Infinity;

  constructor(
    readonly limits: typeof PROOFS,
    readonly clock: Clock,
    readonly noted: (seen: SeenMark) => void = () => {},
  ) {}

  note(seen: SeenMark, perOwner = this.limits.perOwner): boolean {
    const now = this.clock();
    this.#forgetEnded(now);
    if (this.#isKnown(seen.mark, now)) return false;
    const { all } = this.limits;
    const free = Math.ceil((all - this.#marks.size) * perOwner / all);
    if ((this.#counts.get(seen.owner) ?? 0) >= free) return false;
    this.#put(seen);
    this.noted(seen);
    return true;
  }

  /** Adds marks from another cache, regardless of limits. */
  adopt(seen: Iterable<SeenMark>): void {
    const now = this.clock();
    this.#forgetEnded(now);
    for (const one of seen) if (!this.#isKnown(one.mark, now)) this.#put(one);
  }

  seen(): SeenMark[] {
    const now = this.clock();
    return [...this.#marks].flatMap(([mark, { owner, endsAt }]) =>
      endsAt < now ? [] : [{ owner, mark, endsAt }]
    );
  }

  #isKnown(mark: string, now: number): boolean {
    return (this.#marks.get(mark)?.endsAt ?? -Infinity) >= now;
  }

  #put({ owner, mark, endsAt }: SeenMark): void {
    this.forget(mark);
    this.#marks.set(mark, { owner, endsAt });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
  }

  forget(mark: string): void {
    const owner = this.#marks.get(mark)?.owner;
    if (owner === undefined) return;
    this.#marks.delete(mark);
    const left = (this.#counts.get(owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }

  /** Runs at most once a second. */
  #forgetEnded(now: number): void {
    if (now < this.#lookAt) return;
    this.#lookAt = now + 1000;
    for (const [mark, { endsAt }] of this.#marks) {
      if (endsAt >= now) break;
      this.forget(mark);
    }
  }
}
