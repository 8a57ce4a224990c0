import process from "node:process";

/** Function of the JavaScript engine; the program runs with `--expose-gc`. */
declare const gc: ((options: { readonly type: "major"; readonly flavor: "last-resort" }) => void) | undefined;

/** Idle time before a collection, in milliseconds: it drops compiled code, which busy threads need again. */
export const IDLE_MS = 30_000;
const GROWTH = 1.25; // growth of the heap that is worth a collection

/** Returns a function that frees unused memory of its thread if the heap has grown. It stalls for up to 75 ms. */
export function garbageCollector(): () => void {
  let kept = 0; // bytes of the heap after the last collection
  return () => {
    if (typeof gc !== "function" || process.memoryUsage().heapTotal < kept * GROWTH) return;
    gc({ type: "major", flavor: "last-resort" });
    kept = process.memoryUsage().heapTotal;
  };
}
