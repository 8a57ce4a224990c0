import { refuse } from "../../model/service_error.ts";
import { NoTurn, Turns, type TurnSeeker } from "../../model/turns.ts";

/** Hashes at the same time: two cores' work, and at most twice the memory of the costliest hash. */
const SLOTS = 2;
/** Further ones that may wait, of strangers and of known users each: some seconds' work; and of one lane. */
const WAITING = 128;
const PER_LANE = 8;

/**
 * Has whatever hashes with scrypt wait for its turn. Each hash takes a tenth of a second of a core and tens of megabytes, and
 * the runtime would do hundreds at a time.
 */
export class ScryptTurns {
  readonly #turns = new Turns({ atOnce: SLOTS, waiting: WAITING, perLane: PER_LANE });

  /**
   * @throws {ERR_TOO_MUCH_WORK} 503, if too much waits there already.
   * @throws The signal's reason, if the caller has gone; what the work throws.
   */
  run<T>(work: () => Promise<T>, seeker: TurnSeeker): Promise<T> {
    return this.#turns.run(work, seeker).catch((error) => {
      throw error instanceof NoTurn
        ? refuse("ERR_TOO_MUCH_WORK", `check of a password: ${error.message}`)
        : error;
    });
  }
}
