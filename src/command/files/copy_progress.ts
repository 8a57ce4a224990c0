import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import type { CommandIo } from "../command.ts";

/** How often it is told how far something is, in milliseconds. */
const TELL_MS = 1000;

/** Tells on standard error how far a copy is, how fast, and how long the rest will take; at most each second. */
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
