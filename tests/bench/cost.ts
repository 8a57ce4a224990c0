import type { ChildProcess } from "./child_process.ts";
import { type Load, runWrk } from "./wrk.ts";

/**
 * Returns the processor time of a process per request, in microseconds.
 * @param options.warmUp Seconds of load before the measurement.
 * @throws If an answer was not a success.
 */
export async function costOf(
  process: ChildProcess,
  load: Omit<Load, "seconds">,
  { warmUp = 1, seconds = 2 } = {},
): Promise<number> {
  if (warmUp > 0) await runWrk({ ...load, seconds: warmUp });
  const before = process.cpu();
  const { requests, failures } = await runWrk({ ...load, seconds });
  if (failures > 0) throw new Error(`${failures} of ${requests} requests to ${load.url} failed`);
  return ((process.cpu().total ?? 0) - (before.total ?? 0)) * 1000 / requests;
}
