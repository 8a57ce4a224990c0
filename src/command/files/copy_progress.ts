import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import type { CommandIo } from "../command.ts";

const TELL_MS = 1000;

/** Returns a reporter of progress, speed and remaining time on standard error, at most once a second. */
export function copyProgress(
  io: Pick<CommandIo, "stderr">,
  what: string,
  total: number,
  elapsed: Stopwatch = stopwatch,
): (done: number) => void {
  const began = elapsed();
  let toldAt = began;
  return (done) => {
    const now = elapsed();
    if (now - toldAt < TELL_MS) return;
    toldAt = now;
    const perSecond = done / (now - began) * 1000;
    const left = perSecond === 0 ? "" : `, ${Math.ceil(Math.max(0, total - done) / perSecond)} s left`;
    io.stderr(`${what}: ${done} of ${total}, ${Math.round(perSecond)} a second${left}\n`);
  };
}
