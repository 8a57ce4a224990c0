/** The service as a process of its own, started from source with the permissions that `deno task start` gives it. */

/** Top of the checkout. */
export const CHECKOUT = new URL("../../", import.meta.url).pathname;

export interface ServiceProcess {
  readonly pid: number;
  kill(signal: Deno.Signal): void;
  /** What it printed so far, on both streams. */
  readonly printed: string;
  /** The first match in what it prints; throws if the process ends without. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  /** Exit status, once everything it printed is read. */
  readonly ended: Promise<number>;
}

/** Runs `authserver` with these arguments. */
export function runAuthserver(
  args: readonly string[],
  { cwd = CHECKOUT, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } =
    {},
): ServiceProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--allow-env",
      "--allow-sys=hostname",
      `--config=${CHECKOUT}deno.json`,
      `${CHECKOUT}main.ts`,
      ...args,
    ],
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1", ...env },
  }).spawn();
  let printed = "";
  let over = false;
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      printed += text;
      tell();
    }
  };
  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)]).then(([{ code }]) => {
    over = true;
    tell();
    return code;
  });
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    get printed() {
      return printed;
    },
    async prints(pattern) {
      for (;;) {
        const match = pattern.exec(printed);
        if (match) return match;
        if (over) throw new Error(`ended without printing ${pattern}:\n${printed}`);
        await changed.promise;
      }
    },
    ended,
  };
}
