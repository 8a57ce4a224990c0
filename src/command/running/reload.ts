import { printable } from "../../model/text.ts";
import { listAt, member, numberAt } from "./answer.ts";
import { askRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { CommandFailed, defineCommand } from "../command.ts";

/** `authserver reload` */
export const reload = defineCommand({
  name: "reload",
  summary: "Reload the configuration of the running service, and wait for the result",
  details: [
    "Exit status 0: the service uses the new configuration; 1: it keeps the previous one.",
    "Run it as the user of the service or as root.",
  ],
  operands: {},
  options: SERVICE_OPTIONS,
}, async (given) => {
  const outcome = await askRunning(given, { command: "reload" });
  if (member(outcome, "ok") !== true) {
    const diagnostics = listAt(outcome, "diagnostics").map((diagnostic) => printable(String(diagnostic)));
    throw new CommandFailed(["The previous configuration stays in use", ...diagnostics].join("\n"));
  }
  const generation = numberAt(outcome, "generation");
  return {
    value: { generation },
    text: `The service uses the new configuration (generation ${generation})\n`,
  };
});
