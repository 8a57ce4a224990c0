import { FairQueue, type FairQueueLimits } from "./fair_queue.ts";

/** There was no room to wait in, no turn in time, or the room was needed for others. */
export class NoPermit extends Error {
  override readonly name = "NoTurn";
}

const WHY_NOT = {
  late: "no turn in time, too many were before",
  displaced: "others needed the room",
} as const;

/** How much work is done, and how much waits, at a time. */
export interface SemaphoreLimits extends FairQueueLimits {
  /** Pieces of work at the same time. */
  readonly atOnce: number;
  /** How many of these only known ones may have; none, if left out. */
  readonly forKnown?: number;
  /** How many turns known ones have for each of strangers while both wait; 1, if left out. */
  readonly knownTurns?: number;
  /** Of one queue key; as many as there are, if left out. */
  readonly atOncePerKey?: number;
  /** Longest time to wait for a turn, in milliseconds; for ever, if left out. */
  readonly maxWaitMs?: number;
}

/** Whose turn it is to be. */
export interface SemaphoreWaiter {
  /** Queues take turns. */
  readonly queueKey: string;
  /** Known ones have queues and turns apart, so that however many strangers come, these do not wait for them. */
  readonly known: boolean;
  /** Gives up waiting; work that has begun has to look at it itself. */
  readonly signal: AbortSignal;
}

/** Lets a few pieces of work run at a time while others wait, in {@link FairQueue}, for their turns. */
export class FairSemaphore {
  readonly #limits: SemaphoreLimits;
  readonly #known: FairQueue;
  readonly #strangers: FairQueue;
  /** Pieces under way, by queue key. */
  readonly #underWay = new Map<string, number>();
  #count = 0;
  /** How many of those under way are strangers'. */
  #strange = 0;
  /** Turns of known ones since the last of a stranger. */
  #knownInRow = 0;

  /** @param limits Those on waiting hold for known ones and for strangers, each. */
  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
    this.#known = new FairQueue(limits);
    this.#strangers = new FairQueue(limits);
  }

  /**
   * Runs the work when it is its turn.
   * @throws {NoTurn} The work was not begun.
   * @throws The signal's reason, if it is aborted before the work begins; what the work throws.
   */
  async run<T>(work: () => Promise<T>, seeker: SemaphoreWaiter): Promise<T> {
    const { signal } = seeker;
    signal.throwIfAborted();
    if (this.#mayRun(seeker)) this.#enter(seeker);
    else await this.#turn(seeker);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#leave(seeker);
    }
  }

  #turn({ queueKey, known, signal }: SemaphoreWaiter): Promise<void> {
    const { maxWaitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const joined = (known ? this.#known : this.#strangers).join({
        queueKey,
        signal,
        maxWaitMs,
        called: () => {
          this.#enter({ queueKey, known });
          resolve();
        },
        left: (why) => reject(why === "aborted" ? signal.reason : new NoPermit(WHY_NOT[why])),
      });
      if (!joined) reject(new NoPermit("too many are waiting"));
    });
  }

  #mayRun({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): boolean {
    const { atOnce, forKnown = 0 } = this.#limits;
    return this.#count < atOnce && (known || this.#strange < atOnce - forKnown) &&
      this.#runningIn(queueKey) < (this.#limits.atOncePerKey ?? Infinity);
  }

  #runningIn(queueKey: string): number {
    return this.#underWay.get(queueKey) ?? 0;
  }

  #enter({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): void {
    this.#count++;
    if (!known) this.#strange++;
    this.#underWay.set(queueKey, this.#runningIn(queueKey) + 1);
  }

  #leave({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): void {
    this.#count--;
    if (!known) this.#strange--;
    const others = this.#runningIn(queueKey) - 1;
    if (others === 0) this.#underWay.delete(queueKey);
    else this.#underWay.set(queueKey, others);
    while (this.#callNext());
  }

  #callNext(): boolean {
    const isForKnown = this.#knownInRow < (this.#limits.knownTurns ?? 1);
    for (const known of [isForKnown, !isForKnown]) {
      const may = (queueKey: string) => this.#mayRun({ queueKey, known });
      if (!(known ? this.#known : this.#strangers).callNext(may)) continue;
      this.#knownInRow = known ? this.#knownInRow + 1 : 0;
      return true;
    }
    return false;
  }
}
