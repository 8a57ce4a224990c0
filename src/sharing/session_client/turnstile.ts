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
      await untilAborted(before, signal);
      return await action();
    } finally {
      resolve();
    }
  }
}

async function untilAborted(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    await Promise.race([awaited, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
