/** Service in a separate process, started from source with exactly the flags of the product. */
import { inTime } from "../fixtures/deadline.ts";
import { readProject } from "../../bin/build/project.ts";

/** Root folder of the checkout. */
export const CHECKOUT = new URL("../../", import.meta.url).pathname;

const { programFlags } = await readProject();

/**
 * Returns the arguments of `deno` that run the program from source as the task `start` does.
 * @param root Folder of the checkout or of another version, with `/` at the end.
 * @param flags Flags of that version.
 */
export function runFromSource(root = CHECKOUT, flags: readonly string[] = programFlags): readonly string[] {
  return [
    "run",
    "--quiet",
    "--no-check",
    "--no-prompt",
    ...flags,
    `--config=${root}deno.json`,
    `${root}main.ts`,
  ];
}

/** Longest silence of a process while something waits for its output, in milliseconds. */
const PRINTS_MS = 120_000;

export interface ServiceProcess {
  readonly pid: number;
  kill(signal: Deno.Signal): void;
  /** Output so far, on both streams. */
  readonly printed: string;
  /**
   * Waits for a match in the output, and returns the first; throws if the process ends without one.
   * @param after Number of characters of the output to skip.
   */
  prints(pattern: RegExp, after?: number): Promise<RegExpExecArray>;
  /** Exit status, once all output is read. */
  readonly ended: Promise<number>;
}

/** Runs `authserver` with these arguments. */
export function runAuthserver(
  args: readonly string[],
  { cwd = CHECKOUT, env = {}, under = [], program: source = runFromSource(), onLine = () => {} }: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Command that runs the program and takes its own arguments first, such as `prlimit` with a limit. */
    readonly under?: readonly string[];
    /** Arguments of `deno` that run another version. */
    readonly program?: readonly string[];
    /** Receives each line of standard output, without the line end. */
    readonly onLine?: (line: string) => void;
  } = {},
): ServiceProcess {
  const [program = Deno.execPath(), ...words] = [...under, Deno.execPath(), ...source, ...args];
  const child = new Deno.Command(program, {
    args: words,
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
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>, onLine: (line: string) => void) => {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      printed += text;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(onLine);
      tell();
    }
  };
  const ended = Promise.all([child.status, read(child.stdout, onLine), read(child.stderr, () => {})]).then(
    ([{ code }]) => {
      over = true;
      tell();
      return code;
    },
  );
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    get printed() {
      return printed;
    },
    async prints(pattern, after = 0) {
      for (;;) {
        const match = pattern.exec(printed.slice(after));
        if (match) return match;
        if (over) throw new Error(`ended without printing ${pattern}:\n${printed}`);
        await inTime(changed.promise, `${pattern} after:\n${printed}`, PRINTS_MS);
      }
    },
    ended,
  };
}
