import { stampOf } from "./file_source.ts";

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
 */
export function watchPaths(
  paths: () => readonly string[],
  onChange: () => Promise<void> | void,
  { intervalMs = () => 1000, failed = () => {} }: {
    readonly intervalMs?: () => number;
    /** Told when the callback throws; what changed then counts as seen, and watching goes on. */
    readonly failed?: (error: unknown) => void;
  } = {},
): PathsWatch {
  let known = stamps(paths());
  let seen = known;
  let closed = false;
  let timer: ReturnType<typeof setTimeout>;
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
    schedule(seen === known ? intervalMs() : Math.min(intervalMs(), REST_MS));
  };
  const schedule = (pauseMs: number) => {
    if (closed) return;
    timer = setTimeout(() => void look(), pauseMs);
    Deno.unrefTimer(timer as unknown as number);
  };
  schedule(intervalMs());
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

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
