import type { ChildProcess } from "./child_process.ts";
import { type Load, runWrk } from "./wrk.ts";

/**
 * Returns the processor time of a process per request, in microseconds, after a second of warm-up.
 * @throws If an answer was not a success.
 */
export async function costOf(process: ChildProcess, load: Omit<Load, "seconds">): Promise<number> {
  await runWrk({ ...load, seconds: 1 });
  const before = process.cpu();
  const { requests, failures } = await runWrk({ ...load, seconds: 2 });
  if (failures > 0) throw new Error(`${failures} of ${requests} requests to ${load.url} failed`);
  return ((process.cpu().total ?? 0) - (before.total ?? 0)) * 1000 / requests;
}
