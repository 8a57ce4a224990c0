/** Notices changes of files by looking at them; see {@link watchFile} for why it looks instead of listening. */
export interface PathsWatch {
  close(): void;
}

/**
 * Calls back when any of the paths (files or folders) has changed and all have been at rest for one interval.
 * @param paths Asked anew at each look, since what there is to watch may change with the contents.
 * @param intervalMs Milliseconds between two looks.
 */
export function watchPaths(
  paths: () => readonly string[],
  onChange: () => Promise<void> | void,
  { intervalMs = 1000 }: { readonly intervalMs?: number } = {},
): PathsWatch {
  let known = stamps(paths());
  let seen = known;
  let closed = false;
  let timer: ReturnType<typeof setTimeout>;
  const look = async () => {
    const now = stamps(paths());
    const atRest = now === seen;
    seen = now;
    if (now !== known && atRest) {
      known = now;
      await onChange();
      // The callback may have read another set of files.
      known = seen = stamps(paths());
    }
    schedule();
  };
  const schedule = () => {
    if (closed) return;
    timer = setTimeout(() => void look(), intervalMs);
    Deno.unrefTimer(timer as unknown as number);
  };
  schedule();
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
    const { mtime, ctime, size, ino, dev } = Deno.statSync(path);
    return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}
