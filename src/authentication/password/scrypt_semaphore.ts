import { httpError } from "../../model/http_error.ts";
import { FairSemaphore, NoPermit, type SemaphoreWaiter } from "../../model/fair_semaphore.ts";

/** Concurrent hashes for two cores: one slot is reserved for known users, who need not wait for two strangers. */
const SLOTS = 3;
const FOR_KNOWN = 1;
const KNOWN_TURNS = 8; // turns of known users per stranger
/** Queue length for strangers and for known users, and per queue key: some seconds of work. */
const WAITING = 128;
const PER_KEY = 8;

/** Limits concurrent scrypt work: a hash takes 0.1 s and tens of MB, and the runtime would run hundreds. */
export class ScryptSemaphore {
  readonly #semaphore = new FairSemaphore({
    atOnce: SLOTS,
    forKnown: FOR_KNOWN,
    knownTurns: KNOWN_TURNS,
    waiting: WAITING,
    perKey: PER_KEY,
  });

  /** @throws {ERR_TOO_MUCH_WORK} 503 if the queue is full. @throws The signal's reason; what the work throws. */
  run<T>(work: () => Promise<T>, seeker: SemaphoreWaiter): Promise<T> {
    return this.#semaphore.run(work, seeker).catch((error) => {
      throw error instanceof NoPermit
        ? httpError("ERR_TOO_MUCH_WORK", `check of a password: ${error.message}`)
        : error;
    });
  }
}
