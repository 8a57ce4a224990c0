import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { ROOT } from "../../bin/build/project.ts";

/** Flags and script of the task `demo`. */
export const DEMO_ARGUMENTS: readonly string[] = project.tasks.demo.command.split(" ").slice(1);

/** The demo as its task starts it. */
export interface StartedDemo extends AsyncDisposable {
  /** Output until it was ready. */
  readonly printed: string;
  readonly port: number;
  /** Parent folder of `conf/` and the home directory of its user. */
  readonly folder: string;
}

/** Starts the demo on a free port, and waits until it is ready. */
export async function startDemo(): Promise<StartedDemo> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...DEMO_ARGUMENTS, "--port", "0"],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let printed = "";
  const output = child.stdout.pipeThrough(new TextDecoderStream()).values();
  while (!printed.includes("Press Ctrl-C")) {
    const { done, value } = await output.next();
    assert(!done, printed);
    printed += value;
  }
  const [, port] = /https:\/\/localhost:(\d+)\/rest\/auth/.exec(printed) ?? [];
  const [, folder = ""] = /The configuration is in (\S+)\/conf/.exec(printed) ?? [];
  return {
    printed,
    port: Number(port),
    folder,
    async [Symbol.asyncDispose]() {
      await output.return?.();
      child.kill("SIGTERM");
      assert.equal((await child.status).code, 0);
    },
  };
}
