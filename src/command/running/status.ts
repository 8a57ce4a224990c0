import { NotRunning } from "../../rooms/control/ask_service.ts";
import { CommandFailed, type CommandIo, defineCommand, WrongUsage } from "../command.ts";
import { askRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { parseDuration } from "./duration.ts";
import { nagiosStatus, type PluginResult, pluginResult } from "./nagios_status.ts";
import { formatStatus, troubles } from "./status_text.ts";

/** `authserver status` */
export const status = defineCommand({
  name: "status",
  summary: "Show how the running service is",
  details: [
    "Exit status 0: it runs and all is well; 1: it runs, but a server is down, the last reload failed, its certificate\n" +
    "has expired, or it cannot be asked; 3: it does not run.",
    "With --nagios as monitoring plugins have it: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
    "Run it as the user of the service or as root. It works also while the configuration cannot be used.",
  ],
  examples: {
    "authserver status": "How the service is, and what is wrong with it",
    "authserver status --json | jq .servers": "The state of each server, for a program",
    "authserver status --nagios": "One line with performance data, for a monitoring system",
  },
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    timeout: { value: "TIME", default: "5s", help: "How long to wait for the answer" },
    json: { help: "Print JSON" },
    nagios: { help: "Print one line for Nagios, Icinga and their like" },
  },
}, async (given, io) => {
  const seconds = parseDuration(given.text("timeout") ?? "");
  if (seconds === undefined) throw new WrongUsage("Expected a time such as 5s or 1m behind --timeout");
  const ask = () => askRunning(given, { command: "status" }, seconds * 1000);
  if (given.flag("nagios")) return tell(await forMonitoring(ask), io);
  try {
    const answer = await ask();
    io.stdout(given.flag("json") ? `${JSON.stringify(answer, undefined, 2)}\n` : formatStatus(answer));
    return troubles(answer).length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
    io.stderr(`authserver status: ${error.message}\n`);
    return 3;
  }
});

async function forMonitoring(ask: () => Promise<unknown>): Promise<PluginResult> {
  try {
    return nagiosStatus(await ask());
  } catch (error) {
    if (error instanceof NotRunning) return pluginResult(2, error.message);
    if (error instanceof CommandFailed) return pluginResult(3, error.message);
    throw error;
  }
}

function tell({ status, line }: PluginResult, io: CommandIo): number {
  io.stdout(line);
  return status;
}
