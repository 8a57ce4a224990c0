import { CommandFailed, type CommandIo, defineCommand, tell } from "../command.ts";
import { WrongUsage } from "../arguments.ts";
import { askRunning, NotRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { parseDuration } from "../../model/clock.ts";
import { nagiosStatus, type PluginResult, pluginResult } from "./nagios_status.ts";
import { formatStatus, troubles } from "./status_text.ts";

/** `authserver status` */
export const status = defineCommand({
  name: "status",
  summary: "Show the status of the running service",
  details: [
    "Exit status 0: the service is healthy; 1: a server is down, the last reload failed, the certificate has expired,\n" +
    "audit lines, log or databases cannot be written, or the service does not answer; 3: the service does not run.",
    "With --nagios, the exit status follows the plugin convention: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
    "Run it as the user of the service or as root. It also works if the configuration is invalid.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    timeout: { value: "TIME", default: "5s", help: "Timeout for the answer" },
    nagios: { help: "Print one line for Nagios, Icinga and compatible systems" },
  },
}, async (given, io) => {
  const seconds = parseTimeout(given.text("timeout") ?? "");
  if (seconds === undefined) throw new WrongUsage("Expected a time such as 5, 5s or 1m behind --timeout");
  if (given.flag("nagios") && given.flag("json")) {
    throw new WrongUsage("Expected --nagios or --json, found both");
  }
  const ask = () => askRunning(given, { command: "status" }, seconds * 1000);
  if (given.flag("nagios")) return report(await forMonitoring(ask), io);
  try {
    const answer = await ask();
    tell(given, io, { value: answer, text: formatStatus(answer) });
    return troubles(answer).length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
    throw new CommandFailed(error.message, { status: 3, cause: error });
  }
});

/** Bare numbers are seconds: programs that ask for monitoring systems are given them so. */
function parseTimeout(text: string): number | undefined {
  return parseDuration(/^[0-9]+$/.test(text) ? `${text}s` : text);
}

async function forMonitoring(ask: () => Promise<unknown>): Promise<PluginResult> {
  try {
    return nagiosStatus(await ask());
  } catch (error) {
    if (error instanceof NotRunning) return pluginResult(2, error.message);
    if (error instanceof CommandFailed) return pluginResult(3, error.message);
    throw error;
  }
}

function report({ status, line }: PluginResult, io: CommandIo): number {
  io.stdout(line);
  return status;
}
