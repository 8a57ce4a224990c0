/** Waits for a promise or the signal, whose reason it throws; a later result or error is ignored. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    const settle = () => signal.removeEventListener("abort", abort);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    // Always handled: an unhandled rejection ends the process.
    promise.then(resolve, reject).finally(settle);
  });
}
