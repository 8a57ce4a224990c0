import { type LaneLimits, Lanes } from "./lanes.ts";

/** There was no room to wait in, no turn in time, or the room was needed for others. */
export class NoTurn extends Error {
  override readonly name = "NoTurn";
}

const WHY_NOT = {
  late: "no turn in time, too many were before",
  displaced: "others needed the room",
} as const;

/** How much work is done, and how much waits, at a time. */
export interface TurnLimits extends LaneLimits {
  /** Pieces of work at the same time. */
  readonly atOnce: number;
  /** How many of these only known ones may have; none, if left out. */
  readonly forKnown?: number;
  /** How many turns known ones have for each of strangers while both wait; 1, if left out. */
  readonly knownTurns?: number;
  /** Of one lane; as many as there are, if left out. */
  readonly atOncePerLane?: number;
  /** Longest time to wait for a turn, in milliseconds; for ever, if left out. */
  readonly patienceMs?: number;
}

/** Whose turn it is to be. */
export interface TurnSeeker {
  /** Lanes take turns. */
  readonly lane: string;
  /** Known ones have lanes and turns apart, so that however many strangers come, these do not wait for them. */
  readonly known: boolean;
  /** Gives up waiting; work that has begun has to look at it itself. */
  readonly signal: AbortSignal;
}

/** Lets a few pieces of work run at a time while others wait, in {@link Lanes}, for their turns. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #known: Lanes;
  readonly #strangers: Lanes;
  /** Pieces under way, by lane. */
  readonly #underWay = new Map<string, number>();
  #count = 0;
  /** How many of those under way are strangers'. */
  #strange = 0;
  /** Turns of known ones since the last of a stranger. */
  #knownInRow = 0;

  /** @param limits Those on waiting hold for known ones and for strangers, each. */
  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#known = new Lanes(limits);
    this.#strangers = new Lanes(limits);
  }

  /**
   * Runs the work when it is its turn.
   * @throws {NoTurn} The work was not begun.
   * @throws The signal's reason, if it is aborted before the work begins; what the work throws.
   */
  async run<T>(work: () => Promise<T>, seeker: TurnSeeker): Promise<T> {
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

  #turn({ lane, known, signal }: TurnSeeker): Promise<void> {
    const { patienceMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const joined = (known ? this.#known : this.#strangers).join({
        lane,
        signal,
        patienceMs,
        called: () => {
          this.#enter({ lane, known });
          resolve();
        },
        left: (why) => reject(why === "aborted" ? signal.reason : new NoTurn(WHY_NOT[why])),
      });
      if (!joined) reject(new NoTurn("too many are waiting"));
    });
  }

  #mayRun({ lane, known }: Pick<TurnSeeker, "lane" | "known">): boolean {
    const { atOnce, forKnown = 0 } = this.#limits;
    return this.#count < atOnce && (known || this.#strange < atOnce - forKnown) &&
      this.#runningIn(lane) < (this.#limits.atOncePerLane ?? Infinity);
  }

  #runningIn(lane: string): number {
    return this.#underWay.get(lane) ?? 0;
  }

  #enter({ lane, known }: Pick<TurnSeeker, "lane" | "known">): void {
    this.#count++;
    if (!known) this.#strange++;
    this.#underWay.set(lane, this.#runningIn(lane) + 1);
  }

  #leave({ lane, known }: Pick<TurnSeeker, "lane" | "known">): void {
    this.#count--;
    if (!known) this.#strange--;
    const others = this.#runningIn(lane) - 1;
    if (others === 0) this.#underWay.delete(lane);
    else this.#underWay.set(lane, others);
    while (this.#callNext());
  }

  #callNext(): boolean {
    const isForKnown = this.#knownInRow < (this.#limits.knownTurns ?? 1);
    for (const known of [isForKnown, !isForKnown]) {
      const may = (lane: string) => this.#mayRun({ lane, known });
      if (!(known ? this.#known : this.#strangers).callNext(may)) continue;
      this.#knownInRow = known ? this.#knownInRow + 1 : 0;
      return true;
    }
    return false;
  }
}
