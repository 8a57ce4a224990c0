/** The service and its operator's commands: `authserver [command] [options]`; the default command is `serve`. */
import { runCommand } from "./src/command/run_command.ts";
import { SYSTEM_IO } from "./src/command/system_io.ts";
import { disableDefaultTrust } from "./src/outgoing/exclusive_trust.ts";

if (import.meta.main) {
  disableDefaultTrust(Deno.env);
  Deno.exit(await runCommand(Deno.args, SYSTEM_IO));
}
