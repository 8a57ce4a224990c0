import { attempt } from "../model/attempt.ts";
import { coalescedTimeout, type Schedule } from "../model/clock.ts";
import { DEBOUNCE_MS, fingerprintOf } from "./watched_file.ts";

const POLL_MS = 1500; // default polling interval, in milliseconds
/** Pause before a failed callback is called again, since its cause may lie outside the paths. */
const RETRY_MS = 300_000;

/**
 * Calls back after any path (file or folder) changed and all were unchanged for half a second, or one interval if shorter.
 * @param paths Evaluated at each poll.
 * @param onChange Returns or resolves to false to be called again after five minutes without change.
 * @param options.intervalMs Evaluated after each poll.
 */
export function watchPaths(
  paths: () => readonly string[],
  onChange: () => unknown,
  { intervalMs = () => POLL_MS, failed = () => {}, schedule = coalescedTimeout }: {
    readonly intervalMs?: () => number;
    readonly failed?: (error: unknown) => void; // called if the callback throws
    readonly schedule?: Schedule;
  } = {},
): { close(): void } {
  let known = fingerprints(paths());
  let seen = known;
  let closed = false;
  let retryMs = Infinity;
  let cancel: () => void;
  const poll = async () => {
    const watched = paths();
    const now = fingerprints(watched);
    const unchanged = now === seen;
    seen = now;
    if ((now !== known || retryMs <= 0) && unchanged) {
      known = now;
      retryMs = RETRY_MS;
      try {
        if (await onChange() !== false) retryMs = Infinity;
      } catch (error) {
        failed(error);
      }
      // The callback may have changed the paths; changes during it still count.
      if (paths().join("\n") !== watched.join("\n")) known = seen = fingerprints(paths());
    }
    if (!closed) pollAfter(seen === known ? intervalMs() : Math.min(intervalMs(), DEBOUNCE_MS));
  };
  const pollAfter = (pauseMs: number) => {
    retryMs -= pauseMs;
    cancel = schedule(pauseMs, () => void poll());
  };
  pollAfter(intervalMs());
  return {
    close: () => {
      closed = true;
      cancel();
    },
  };
}

function fingerprints(paths: readonly string[]): string {
  const ofOne = (path: string) =>
    attempt(() => fingerprintOf(Deno.statSync(path)), Error, ({ name }) => name);
  return paths.map((path) => `${path} ${ofOne(path)}`).join("\n");
}
