import { NotRunning } from "../../rooms/control/ask_service.ts";
import { CommandFailed, type CommandIo, defineCommand, tell } from "../command.ts";
import { WrongUsage } from "../arguments.ts";
import { askRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { parseDuration } from "../../model/duration.ts";
import { nagiosStatus, type PluginResult, pluginResult } from "./nagios_status.ts";
import { formatStatus, troubles } from "./status_text.ts";

/** Members of `ServiceStatus`. */
const STATUS_MEMBERS = {
  "version": "Version of the service",
  "pid": "Process id",
  "configuration": "Main configuration file, an absolute path",
  "port": "Port that it listens on",
  "generation": "How many configurations were in use since the start, this one counted",
  "upSince": "Time of the start, as 2026-01-05T09:15:00.123Z; so are all times",
  "uptimeSeconds": "Seconds since then",
  "lastReload.at": "Time when the configuration was read last",
  "lastReload.ok": "Whether it was taken over; if not, the one before is in use",
  "lastReload.problems[]": "What was wrong, a text each",
  "coreProblem?":
    "Why the part that knows users and daemons does not answer; what only it knows is then missing",
  "servers[].name": "Logical server",
  "servers[].usable": "Whether a session can be created",
  "servers[].instances[].instance": "Number of the daemon in its group, from 1",
  "servers[].instances[].address": "host:port of the daemon's listen socket",
  "servers[].instances[].up": "Whether it answered, and does as far as is known",
  "servers[].instances[].unchecked?": "true: it has neither answered nor failed so far",
  "servers[].instances[].reason?": "Why it is not up",
  "servers[].instances[].latencyMs?": "Milliseconds that its last answer took",
  "servers[].instances[].unverifiable?": "true: it is configured to show a certificate that proves nothing",
  "servers[].version?": "Version of the daemon",
  "servers[].sessionLimit?": "Most sessions of a user at the same time",
  "identityProviders[]?": "Systems that methods of authentication ask",
  "identityProviders[].method?": "Method that asks it",
  "identityProviders[].remote?": "host:port",
  "identityProviders[].state?": "up, down or unknown",
  "identityProviders[].reason?": "Why it is down",
  "certificate.dn?": "Subject of the service's certificate",
  "certificate.expires?": "Time of its end",
  "certificate.daysLeft?": "Whole days until then; negative once it has ended",
  "shares?": "Number of shares; missing without data sharing",
  "database.state?":
    "Of the database that instances share: up, degraded or away; missing where there is one instance alone",
  "database.reason?": "Why it is not up",
  "database.awaySeconds?": "Seconds for which it has been away",
  "database.defects?": "Statements that it refused as wrong since the start, which the log names",
  "instances[].name?": "Instance of the service, host:port",
  "instances[].state?": "serving or silent",
  "instances[].own?": "Whether it is the one that answers",
  "instances[].version?": "Version of the service there",
  "instances[].configuration?": "Digest of what of the configuration must be the same on all",
  "instances[].upSince?": "Time of its start",
  "instances[].seenSeconds?": "Seconds since it was seen last",
  "configurationsDiffer?": "Whether instances of the same version are configured differently",
  "bans.passwords": "Users and addresses that wait because of failed passwords",
  "bans.tokens": "The same because of failed tokens and keys",
  "bans.operator": "Bans by hand",
  "sessions.granted": "Sessions since the start",
  "sessions.refused": "Sessions refused since the start",
  "memoryBytes": "Resident memory of the process, in bytes",
  "eventLoopLagMs.*": "Longest delay of a timer by part of the service, in milliseconds",
  "eventLoopOwnLagMs.*":
    "Longest one because of work of that part itself; far below the other where the machine has too little time for it",
} as const;

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
    nagios: { help: "Print one line for Nagios, Icinga and their like" },
  },
  json: STATUS_MEMBERS,
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
