import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { inTime } from "../fixtures/deadline.ts";
import type { Ran } from "../build/every_command.ts";
import { runFromSource } from "./service_process.ts";

/** Longest time of a command, in milliseconds. */
const COMMAND_MS = 120_000;

/**
 * Process with the flags of the product that runs commands in turn: its start takes longer than a command.
 */
export class CommandProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #answers: AsyncIterator<string>;
  readonly #said: Promise<string>;

  constructor() {
    const flags = runFromSource().slice(0, -1);
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...flags, new URL("./run_commands.ts", import.meta.url).pathname],
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#answers = createInterface(Readable.fromWeb(this.#child.stdout))[Symbol.asyncIterator]();
    this.#said = new Response(this.#child.stderr).text();
  }

  /** Runs a command in a folder, after all earlier ones. @param input Standard input of the command. */
  async run(args: readonly string[], cwd: string, input = ""): Promise<Ran> {
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify({ args, cwd, input })}\n`));
    const { value } = await inTime(this.#answers.next(), args.join(" "), COMMAND_MS);
    if (value === undefined) throw new Error(`ended at ${args.join(" ")}: ${await this.#said}`);
    return JSON.parse(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#child.status;
    await this.#said;
  }
}
