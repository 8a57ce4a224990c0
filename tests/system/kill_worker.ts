/** Original method of the runtime, which tests may replace later. */
const { terminate } = Worker.prototype;

/**
 * Ends a worker so that its supervisor sees a defect: the thread stops, and the error arrives. A real defect
 * also prints its stack on standard error; `workers/worker_thread_test.ts` tries one in a separate process.
 */
export function killWorker(worker: Worker): void {
  terminate.call(worker);
  worker.dispatchEvent(new ErrorEvent("error", { message: "Uncaught Error: a defect", cancelable: true }));
}
