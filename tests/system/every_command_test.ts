/** Every command of the operator, in an installation's folder, beside its service, with the flags of the product. */
import { runCommand } from "../../src/command/run_command.ts";
import { EVERYTHING, runToEnd, tryEveryCommand } from "../build/every_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { LONG } from "../long/results.ts";
import { runService, settled } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

Deno.test("every command works with the permissions that are delivered", async () => {
  await using system = await runService(EVERYTHING);
  await settled(system);
  const withPermissions = (args: readonly string[], input?: string) =>
    runToEnd(
      new Deno.Command(Deno.execPath(), {
        args: [...runFromSource(), ...args],
        cwd: system.folder,
        env: { NO_COLOR: "1" },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }),
      input,
    );
  const before = Deno.cwd();
  Deno.chdir(system.folder);
  // The forms of what a command prints need the same permissions: by day one process a command is enough.
  await tryEveryCommand((args, input) =>
    LONG || !args.includes("--json") ? withPermissions(args, input) : here(args, input)
  );
  Deno.chdir(before);
});

/** Runs a command in this process. */
async function here(args: readonly string[], input?: string) {
  const io = recordedIo({ input });
  return { code: await runCommand(args, io), out: io.out, err: io.err };
}
