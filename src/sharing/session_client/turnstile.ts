import { unlessAborted } from "../../model/unless_aborted.ts";

/** Lets one pass at a time, in the order in which they came. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();

  /**
   * Runs an action when all before it are done.
   * @param signal Gives up waiting; the action has to look at it itself.
   */
  async pass<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = before.then(() => promise);
    try {
      await unlessAborted(before, signal);
      return await action();
    } finally {
      resolve();
    }
  }
}
