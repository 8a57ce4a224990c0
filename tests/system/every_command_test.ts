/** Every operator command, in an installation's folder, beside its service, with the flags of the product. */
import { EVERYTHING, runToEnd, tryEveryCommand } from "../build/every_command.ts";
import { CommandProcess } from "./command_process.ts";
import { runService, settled } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

Deno.test("every command works with the shipped permissions", async () => {
  await using system = await runService(EVERYTHING);
  await settled(system);
  // The first of each group of commands runs in a process of its own, the others all in one process.
  await using together = new CommandProcess();
  const groups = new Set<string>();
  await tryEveryCommand((args, input) => {
    const [group = ""] = args;
    if (groups.has(group)) return together.run(args, system.folder, input);
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
