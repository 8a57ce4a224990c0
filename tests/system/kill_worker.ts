/** The runtime's own, whatever a test puts in its place later. */
const { terminate } = Worker.prototype;

/**
 * Ends a worker as a defect in it would, for its supervisor: the thread stops, and the error arrives. A real defect also
 * prints its stack on standard error; `workers/worker_thread_test.ts` tries one, in a process of its own.
 */
export function killWorker(worker: Worker): void {
  terminate.call(worker);
  worker.dispatchEvent(new ErrorEvent("error", { message: "Uncaught Error: a defect", cancelable: true }));
}
