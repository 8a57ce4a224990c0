import { until } from "../fixtures/deadline.ts";

/** How long a program may take until it is ready, in milliseconds. */
const READY_MS = 120_000;

/** A program under measurement, in a process of its own. Figures come from `/proc`, so they exist on Linux only. */
export class ChildProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
  }

  /**
   * Starts a script with all permissions. What it says goes into a file: a pipe would make us read under measurement.
   * @returns When its standard output matches; with what the first group of the pattern caught.
   * @throws If it ends before.
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
      await Deno.remove(output); // it stays open where it is written to
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Milliseconds of processor time used so far, by the name of the thread; `total` is their sum. */
  cpu(): Readonly<Record<string, number>> {
    const times: Record<string, number> = { total: 0 };
    for (const { name: thread } of Deno.readDirSync(`/proc/${this.pid}/task`)) {
      const { name, used } = readThread(`/proc/${this.pid}/task/${thread}`);
      times[name] = (times[name] ?? 0) + used;
      times.total = (times.total ?? 0) + used;
    }
    return times;
  }

  /** Resident memory in MiB. */
  memory(): number {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(Deno.readTextFileSync(`/proc/${this.pid}/status`)) ?? [];
    return Math.round(Number(kib) / 102.4) / 10;
  }

  /** Open file descriptors. */
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

/** Name of a thread and the processor time it used, in milliseconds; nothing if it has just ended. */
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

/** Clock ticks as `/proc` counts them; 100 a second on every Linux in use. */
const MS_PER_TICK = 10;
