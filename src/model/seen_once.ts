import type { Clock } from "./clock.ts";

/** How many marks are kept. */
interface SeenOnceLimits {
  readonly all: number;
  /** Of one owner, so that nobody takes the room of others. */
  readonly perOwner: number;
}

/** A mark that was seen, as it is handed on. */
export interface SeenMark {
  readonly owner: string;
  readonly mark: string;
  /** When it cannot be used any more, in milliseconds since the epoch. */
  readonly endsAt: number;
}

/** How many proofs of possession are remembered (RFC 9449, 11.1). */
export const PROOFS: SeenOnceLimits = { all: 200_000, perOwner: 5_000 };

/**
 * Notes marks that count once, such as those of proofs, until they could not be used any more. Where there is no room for
 * another one, it counts as seen: what cannot be noted cannot be told apart from a repetition.
 */
export class SeenOnce {
  /** Marks of each owner with their ends, in the order in which they came. */
  readonly #owners = new Map<string, Map<string, number>>();
  #size = 0;
  #lookAt = -Infinity;

  /**
   * @param clock For the ends of marks.
   * @param noted Told of each one, for those who come after.
   */
  constructor(
    readonly limits: SeenOnceLimits,
    readonly clock: Clock,
    readonly noted: (seen: SeenMark) => void = () => {},
  ) {}

  /**
   * Notes a mark.
   * @param endsAt When it cannot be used any more, in milliseconds since the epoch.
   * @returns Whether it is the first time.
   */
  note(owner: string, mark: string, endsAt: number): boolean {
    const isFirst = this.#add(owner, mark, endsAt);
    if (isFirst) this.noted({ owner, mark, endsAt });
    return isFirst;
  }

  #add(owner: string, mark: string, endsAt: number): boolean {
    const now = this.clock();
    this.#forgetEnded(now);
    const marks = this.#owners.get(owner) ?? new Map<string, number>();
    if ((marks.get(mark) ?? -Infinity) >= now) return false;
    if (marks.size >= this.limits.perOwner || this.#size >= this.limits.all) return false;
    if (!marks.has(mark)) this.#size++;
    marks.set(mark, endsAt);
    this.#owners.set(owner, marks);
    return true;
  }

  /** Takes over what was seen elsewhere. */
  adopt(seen: Iterable<SeenMark>): void {
    for (const { owner, mark, endsAt } of seen) this.#add(owner, mark, endsAt);
  }

  /** What was seen and has not ended. */
  seen(): SeenMark[] {
    const now = this.clock();
    return [...this.#owners].flatMap(([owner, marks]) =>
      [...marks].flatMap(([mark, endsAt]) => endsAt < now ? [] : [{ owner, mark, endsAt }])
    );
  }

  /** Once a second at most; of each owner up to the first mark that has not ended. */
  #forgetEnded(now: number): void {
    if (now < this.#lookAt) return;
    this.#lookAt = now + 1000;
    for (const [owner, marks] of this.#owners) {
      for (const [mark, endsAt] of marks) {
        if (endsAt >= now) break;
        marks.delete(mark);
        this.#size--;
      }
      if (marks.size === 0) this.#owners.delete(owner);
    }
  }
}
