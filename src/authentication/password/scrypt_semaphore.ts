import { httpError } from "../../model/http_error.ts";
import { FairSemaphore, NoPermit, type SemaphoreWaiter } from "../../model/fair_semaphore.ts";

/**
 * Hashes at the same time: two cores' work, one more that only known users may have, and the memory of each. So however long
 * a hash takes on a busy machine, a known user's does not wait for those of two strangers to end.
 */
const SLOTS = 3;
const FOR_KNOWN = 1;
/** Turns of known users for each of strangers, who must not wait for ever. */
const KNOWN_TURNS = 8;
/** Further ones that may wait, of strangers and of known users each: some seconds' work; and of one queue key. */
const WAITING = 128;
const PER_KEY = 8;

/**
 * Has whatever hashes with scrypt wait for its turn. Each hash takes a tenth of a second of a core and tens of megabytes, and
 * the runtime would do hundreds at a time.
 */
export class ScryptSemaphore {
  readonly #semaphore = new FairSemaphore({
    atOnce: SLOTS,
    forKnown: FOR_KNOWN,
    knownTurns: KNOWN_TURNS,
    waiting: WAITING,
    perKey: PER_KEY,
  });

  /**
   * @throws {ERR_TOO_MUCH_WORK} 503, if too much waits there already.
   * @throws The signal's reason, if the caller has gone; what the work throws.
   */
  run<T>(work: () => Promise<T>, seeker: SemaphoreWaiter): Promise<T> {
    return this.#semaphore.run(work, seeker).catch((error) => {
      throw error instanceof NoPermit
        ? httpError("ERR_TOO_MUCH_WORK", `check of a password: ${error.message}`)
        : error;
    });
  }
}
