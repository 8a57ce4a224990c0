import { FairSemaphore } from "../../model/fair_semaphore.ts";

/** Lets one at a time look at a path and begin to write there, so that what it saw still holds. */
export class PathLocks {
  // Who waits has a session of the daemon already, and of these there are few.
  readonly #semaphore = new FairSemaphore({
    atOnce: Infinity,
    atOncePerKey: 1,
    waiting: Infinity,
    perKey: Infinity,
  });

  /**
   * Waits for the turn at a path of a server.
   * @returns Ends the turn; may be called any number of times.
   * @throws The signal's reason.
   */
  async take(server: string, path: string, signal: AbortSignal): Promise<() => void> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>();
    const work = () => {
      begin();
      return over;
    };
    this.#semaphore.run(work, { queueKey: `${server}:${path}`, known: true, signal }).catch(reject);
    await begun;
    return end;
  }
}
