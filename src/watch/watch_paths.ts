import type { Schedule } from "../model/schedule.ts";
import { stampOf } from "./watched_file.ts";

/** Notices changes of files by looking at them; see {@link watchFile} for why it looks instead of listening. */
export interface PathsWatch {
  close(): void;
}

/** A change is taken for finished if nothing more changes within this time, in milliseconds. */
const REST_MS = 1000;

/**
 * Calls back when any of the paths (files or folders) has changed and all have been at rest for a second, or one
 * interval if that is shorter.
 * @param paths Asked anew at each look, since what there is to watch may change with the contents.
 * @param options.intervalMs Milliseconds between two looks, asked anew after each.
 * @param options.schedule Default: timers that keep no process alive.
 */
export function watchPaths(
  paths: () => readonly string[],
  onChange: () => Promise<void> | void,
  { intervalMs = () => 1000, failed = () => {}, schedule = unawaited }: {
    readonly intervalMs?: () => number;
    /** Told when the callback throws; what changed then counts as seen, and watching goes on. */
    readonly failed?: (error: unknown) => void;
    readonly schedule?: Schedule;
  } = {},
): PathsWatch {
  let known = stamps(paths());
  let seen = known;
  let closed = false;
  let callOff: () => void;
  const look = async () => {
    const watched = paths();
    const now = stamps(watched);
    const atRest = now === seen;
    seen = now;
    if (now !== known && atRest) {
      known = now;
      try {
        await onChange();
      } catch (error) {
        failed(error);
      }
      // The callback may have read another set of files; what changed meanwhile in this one is still to be noticed.
      if (paths().join("\n") !== watched.join("\n")) known = seen = stamps(paths());
    }
    if (!closed) lookAfter(seen === known ? intervalMs() : Math.min(intervalMs(), REST_MS));
  };
  const lookAfter = (pauseMs: number) => callOff = schedule(pauseMs, () => void look());
  lookAfter(intervalMs());
  return {
    close: () => {
      closed = true;
      callOff();
    },
  };
}

/** The timers of the platform; a process that has nothing else to do ends. */
const unawaited: Schedule = (ms, task) => {
  const timer = setTimeout(task, ms);
  Deno.unrefTimer(timer as unknown as number);
  return () => clearTimeout(timer);
};

function stamps(paths: readonly string[]): string {
  return paths.map((path) => `${path} ${stamp(path)}`).join("\n");
}

function stamp(path: string): string {
  try {
    return stampOf(Deno.statSync(path));
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}
