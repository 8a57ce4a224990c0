/**
 * Runs commands in turn. Each line of input is a command, `{"args": [...], "cwd": "...", "input": "..."}`,
 * and each line of output is its result, `{"code": 0, "out": "...", "err": "..."}`.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { runCommand } from "../../src/command/run_command.ts";
import { disableDefaultTrust } from "../../src/outgoing/exclusive_trust.ts";
import { recordedIo } from "../command/recorded_io.ts";

disableDefaultTrust(Deno.env);
for await (const line of createInterface(process.stdin)) {
  const { args, cwd, input } = JSON.parse(line);
  Deno.chdir(cwd);
  const io = recordedIo({ input });
  const code = await runCommand(args, io);
  console.log(JSON.stringify({ code, out: io.out, err: io.err }));
}
Deno.exit();
