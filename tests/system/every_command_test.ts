/** Every operator command, in an installation's folder, beside its service, with the flags of the product. */
import { EVERYTHING, runToEnd, tryEveryCommand } from "../build/every_command.ts";
import { LONG } from "../long/results.ts";
import { CommandProcess } from "./command_process.ts";
import { runService, settled } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

/**
 * Groups whose first command runs in a process of its own: it prints a line, prints most, reads its input, runs
 * beside the service, or fails. In long runs that is the first command of every group.
 */
const ALONE = ["version", "config", "passwd", "backup", "restore"];

Deno.test("every command works with the shipped permissions", async () => {
  await using system = await runService(EVERYTHING);
  await settled(system);
  // The other commands run all in one process with the same flags: a start takes longer than a command.
  await using together = new CommandProcess();
  const groups = new Set<string>();
  await tryEveryCommand((args, input) => {
    const [group = ""] = args;
    if (groups.has(group) || !(LONG || ALONE.includes(group))) {
      return together.run(args, system.folder, input);
    }
    groups.add(group);
    const program = new Deno.Command(Deno.execPath(), {
      args: [...runFromSource(), ...args],
      cwd: system.folder,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    return runToEnd(program, input);
  });
});
