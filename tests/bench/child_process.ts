import { until } from "../fixtures/deadline.ts";

/** Longest start of a program, in milliseconds. */
const READY_MS = 120_000;

/** Program under measurement, in its own process. Figures come from `/proc`, so they exist only on Linux. */
export class ChildProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  /**
   * Starts a script with all permissions. Its output goes into a file: with a pipe, this process would read
   * during the measurement.
   * @returns When the output matches, with the text of the pattern's first group.
   * @throws If the script ends before that.
   */
  static async start(
    script: URL,
    args: readonly string[],
    ready: RegExp,
    flags: readonly string[] = [],
  ): Promise<{ readonly process: ChildProcess; readonly said: string }> {
    const output = await Deno.makeTempFile({ prefix: "authserver-bench-" });
    const command = [
      Deno.execPath(),
      "run",
      "--quiet",
      "--no-check",
      "--allow-all",
      ...flags,
      script.pathname,
      ...args,
    ];
    const child = new Deno.Command("sh", {
      args: ["-c", 'exec "$@" > "$0" 2>&1', output, ...command],
    }).spawn();
    let ended = false;
    void child.status.then(() => ended = true);
    try {
      const said: string[] = [];
      await until(async () => {
        const match = ready.exec(await Deno.readTextFile(output));
        if (match !== null) said.push(match[1] ?? "");
        else if (ended) throw new Error(`ended too early:\n${await Deno.readTextFile(output)}`);
        return match !== null;
      }, { what: `${script.pathname} prints ${ready}`, everyMs: 10, withinMs: READY_MS });
      return { process: new ChildProcess(child), said: said.join("") };
    } finally {
      await Deno.remove(output); // the program keeps it open
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Returns the processor time used so far in milliseconds, by thread name; `total` is the sum. */
  cpu(): Readonly<Record<string, number>> {
    const times: Record<string, number> = { total: 0 };
    for (const { name: thread } of Deno.readDirSync(`/proc/${this.pid}/task`)) {
      const { name, used } = readThread(`/proc/${this.pid}/task/${thread}`);
      times[name] = (times[name] ?? 0) + used;
      times.total = (times.total ?? 0) + used;
    }
    return times;
  }

  /** Returns the resident memory in MiB. */
  memory(): number {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(Deno.readTextFileSync(`/proc/${this.pid}/status`)) ?? [];
    return Math.round(Number(kib) / 102.4) / 10;
  }

  /** Returns the number of open file descriptors. */
  descriptors(): number {
    return [...Deno.readDirSync(`/proc/${this.pid}/fd`)].length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGTERM");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
    await this.#child.status;
  }
}

/** Returns a thread's name and the processor time it used, in milliseconds; 0 if it has just ended. */
function readThread(folder: string): { readonly name: string; readonly used: number } {
  try {
    const [, name = "", rest = ""] = /\((.*)\) (.*)/.exec(Deno.readTextFileSync(`${folder}/stat`)) ?? [];
    const fields = rest.split(" ");
    return { name, used: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { name: "ended", used: 0 };
    throw error;
  }
}

/** Length of a clock tick of `/proc`, in milliseconds: every Linux in use has 100 a second. */
const MS_PER_TICK = 10;
