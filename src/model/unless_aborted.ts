/**
 * What a promise gives, unless the signal is aborted before. What the promise stands for goes on all the same; whatever
 * becomes of it then is nobody's affair, a failure neither.
 * @throws The signal's reason, also if it was aborted beforehand; what the promise is rejected with.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    const settle = () => signal.removeEventListener("abort", abort);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    // Listened to in each case: a rejection that nobody hears of ends the process.
    promise.then(resolve, reject).finally(settle);
  });
}
