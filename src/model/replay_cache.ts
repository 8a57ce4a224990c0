import type { Clock } from "./clock.ts";

/** How many marks are kept. */
interface ReplayCacheLimits {
  readonly all: number;
  /** Of one owner while the table is empty; fewer as it fills. */
  readonly perOwner: number;
}

/** A mark that was seen, as it is handed on. */
export interface SeenMark {
  /** Who pays for its room: somebody whom a caller cannot multiply, such as a user. */
  readonly owner: string;
  /** Different from all marks of others. */
  readonly mark: string;
  /** When it cannot be used any more, in milliseconds since the epoch. */
  readonly endsAt: number;
}

/** How many proofs of possession are remembered (RFC 9449, 11.1). */
export const PROOFS: ReplayCacheLimits = { all: 200_000, perOwner: 5_000 };

/**
 * Notes marks that count once, such as those of proofs, until they could not be used any more. Where there is no room for
 * another one, it counts as seen: what cannot be noted cannot be told apart from a repetition. So nothing is forgotten
 * before its end.
 *
 * No owner may have more marks than a fixed part of the free places. As the table fills, those who take most of it are
 * refused first, and a hundred greedy owners together leave room for others.
 */
export class ReplayCache {
  /** In the order in which they came. */
  readonly #marks = new Map<string, { readonly owner: string; readonly endsAt: number }>();
  /** Number of marks of each owner. */
  readonly #counts = new Map<string, number>();
  #lookAt = -Infinity;

  /**
   * @param clock For the ends of marks.
   * @param noted Told of each one, for those who come after.
   */
  constructor(
    readonly limits: ReplayCacheLimits,
    readonly clock: Clock,
    readonly noted: (seen: SeenMark) => void = () => {},
  ) {}

  /** Notes a mark. @returns Whether it is the first time. */
  note(seen: SeenMark): boolean {
    const now = this.clock();
    this.#forgetEnded(now);
    if (this.#isKnown(seen.mark, now)) return false;
    const { all, perOwner } = this.limits;
    const free = Math.ceil((all - this.#marks.size) * perOwner / all);
    if ((this.#counts.get(seen.owner) ?? 0) >= free) return false;
    this.#put(seen);
    this.noted(seen);
    return true;
  }

  /** Takes over what was seen elsewhere, all of it: there it had room. */
  adopt(seen: Iterable<SeenMark>): void {
    const now = this.clock();
    this.#forgetEnded(now);
    for (const one of seen) if (!this.#isKnown(one.mark, now)) this.#put(one);
  }

  /** What was seen and has not ended. */
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
    this.#forget(mark);
    this.#marks.set(mark, { owner, endsAt });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
  }

  #forget(mark: string): void {
    const owner = this.#marks.get(mark)?.owner;
    if (owner === undefined) return;
    this.#marks.delete(mark);
    const left = (this.#counts.get(owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }

  /** Once a second at most, up to the first mark that has not ended. */
  #forgetEnded(now: number): void {
    if (now < this.#lookAt) return;
    this.#lookAt = now + 1000;
    for (const [mark, { endsAt }] of this.#marks) {
      if (endsAt >= now) break;
      this.#forget(mark);
    }
  }
}
