import { FairSemaphore } from "../../model/fair_semaphore.ts";

/** Locks that make check and write of a path atomic within this process. */
export class PathLocks {
  // Each waiter holds one of the few daemon sessions, which bounds the queue.
  readonly #semaphore = new FairSemaphore({
    atOnce: Infinity,
    atOncePerKey: 1,
    waiting: Infinity,
    perKey: Infinity,
  });

  /** Waits for exclusive use of a path of a server. @returns Idempotent release. @throws The signal's reason. */
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
