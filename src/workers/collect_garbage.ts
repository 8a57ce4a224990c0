import process from "node:process";

/** Function of the JavaScript engine; the program runs with `--expose-gc`. */
declare const gc: ((options: { readonly type: "major"; readonly flavor: "last-resort" }) => void) | undefined;

/** Growth of the heap after which a collection is worth its time, relative to its size after the last one. */
const GROWTH = 1.25;

/**
 * Returns a function that returns unused memory of its thread to the system. Call it while the thread is idle: it stalls
 * the thread for up to 75 ms, if the heap has grown since the last call.
 */
export function garbageCollector(): () => void {
  let kept = 0; // bytes of the heap after the last collection
  return () => {
    if (typeof gc !== "function" || process.memoryUsage().heapTotal < kept * GROWTH) return;
    gc({ type: "major", flavor: "last-resort" });
    kept = process.memoryUsage().heapTotal;
  };
}
