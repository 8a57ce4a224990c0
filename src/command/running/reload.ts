import { printable } from "../../model/printable.ts";
import { requireRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { CommandFailed, defineCommand, tell } from "../command.ts";
import { listAt, member, numberAt } from "./reply_value.ts";

/** `authserver reload` */
export const reload = defineCommand({
  name: "reload",
  summary: "Have the running service read its configuration again, and wait until it has",
  details: [
    "Exit status 0: the configuration is in use; 1: it is not, and the one before stays in use.",
    "Run it as the user of the service or as root.",
  ],
  examples: {
    "authserver check && authserver reload": "Takes the configuration over if it is usable",
  },
  operands: {},
  options: SERVICE_OPTIONS,
  json: { "generation": "How many configurations were in use since the start, this one counted" },
}, async (given, io) => {
  const outcome = await requireRunning(given, { command: "reload" });
  if (member(outcome, "ok") !== true) {
    const diagnostics = listAt(outcome, "diagnostics").map((diagnostic) => printable(String(diagnostic)));
    throw new CommandFailed(["The configuration before stays in use", ...diagnostics].join("\n"));
  }
  const generation = numberAt(outcome, "generation");
  tell(given, io, {
    value: { generation },
    text: `The configuration is in use (generation ${generation})\n`,
  });
  return 0;
});
