import { NotRunning } from "../rooms/control/ask_service.ts";
import { defineCommand } from "./command.ts";
import { askRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { formatStatus, troubles } from "./status_text.ts";

/** `authserver status` */
export const status = defineCommand({
  name: "status",
  summary: "Show how the running service is",
  details: [
    "Exit status 0: it runs and all is well; 1: it runs, but a server is down, the last reload failed, its certificate\n" +
    "has expired, or it cannot be asked; 3: it does not run.",
    "Run it as the user of the service or as root. It works also while the configuration cannot be used.",
  ],
  examples: {
    "authserver status": "How the service is, and what is wrong with it",
    "authserver status --json | jq .servers": "The state of each server, for a program",
  },
  operands: {},
  options: { ...SERVICE_OPTIONS, json: { help: "Print JSON" } },
}, async (given, io) => {
  try {
    const answer = await askRunning(given, { command: "status" });
    io.stdout(given.flag("json") ? `${JSON.stringify(answer, undefined, 2)}\n` : formatStatus(answer));
    return troubles(answer).length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
    io.stderr(`authserver status: ${error.message}\n`);
    return 3;
  }
});
