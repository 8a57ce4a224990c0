import { NotRunning } from "../../workers/control/ask_service.ts";
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
  "generation": "Number of configurations used since the start, including the current one",
  "upSince": "Start time, in the form 2026-01-05T09:15:00.123Z, as all times",
  "uptimeSeconds": "Seconds since then",
  "lastReload.at": "Time of the last reload",
  "lastReload.ok": "Whether the reload succeeded; if not, the previous configuration stays in use",
  "lastReload.diagnostics[]": "Errors of the last reload",
  "coreDiagnostic?":
    "Reason why the core does not answer; the members that depend on the core are then missing",
  "servers[].name": "Logical server",
  "servers[].usable": "Whether the server can open a session",
  "servers[].instances[].instance": "Number of the daemon in its group, from 1",
  "servers[].instances[].address": "host:port of the daemon's listen socket",
  "servers[].instances[].up": "Whether the daemon answers",
  "servers[].instances[].unchecked?": "true: not checked yet",
  "servers[].instances[].reason?": "Reason why the daemon is down",
  "servers[].instances[].latencyMs?": "Response time of the last answer, in milliseconds",
  "servers[].instances[].unverifiable?":
    "true: the configuration accepts a certificate of the daemon that proves nothing",
  "servers[].version?": "Version of the daemon",
  "servers[].sessionLimit?": "Maximum number of concurrent sessions of a user",
  "identityProviders[]?": "Systems that authenticators use",
  "identityProviders[].method?": "Authenticator that uses the system",
  "identityProviders[].remote?": "host:port",
  "identityProviders[].state?": "up, down or unknown",
  "identityProviders[].reason?": "Reason why the system is down",
  "certificate.dn?": "Subject of the service's certificate",
  "certificate.expires?": "Time of its end",
  "certificate.daysLeft?": "Whole days until expiry; negative after expiry",
  "shares?": "Number of shares; missing if data sharing is off",
  "database.state?": "State of the shared database: up, degraded or away; missing without one",
  "database.reason?": "Reason why the database is not up",
  "database.awaySeconds?": "Seconds since the database went down",
  "database.defects?": "Statements that it refused as wrong since the start, which the log names",
  "database.knowsRevoked?": "Whether this instance knows the revoked tokens; until then it refuses all",
  "instances[].name?": "Instance of the service, host:port",
  "instances[].state?": "serving or silent",
  "instances[].own?": "Whether this instance gave the answer",
  "instances[].version?": "Version of the instance",
  "instances[].configuration?": "Digest of the settings that must be equal on all instances",
  "instances[].upSince?": "Time of its start",
  "instances[].seenSeconds?": "Seconds since the instance was last seen",
  "configurationsDiffer?": "Whether instances of the same version have different configurations",
  "bans.passwords": "Users and addresses throttled because of wrong passwords",
  "bans.tokens": "Users and addresses throttled because of wrong tokens or keys",
  "bans.operator": "Bans by hand",
  "sinks[].name":
    "Destination of writes: audit, log, console, shares, records (the databases), share-uses, token-uses",
  "sinks[].state": "written or failing",
  "sinks[].reason?": "Reason why writes fail",
  "sinks[].since?": "Time of the first failed write",
  "sinks[].lost": "Lines or records lost since the start",
  "sinks[].refusing?": "true: requests that need an audit line get 503 (container.audit.required)",
  "sessions.granted": "Sessions since the start",
  "sessions.refused": "Rejected sessions since the start",
  "memoryBytes": "Resident memory of the process, in bytes",
  "eventLoopLagMs.*": "Longest event loop delay of each worker, in milliseconds",
  "eventLoopOwnLagMs.*":
    "Longest delay caused by the worker itself; far below eventLoopLagMs if the machine is overloaded",
} as const;

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
  examples: {
    "authserver status": "Shows the state of the service and its problems",
    "authserver status --json | jq .servers": "Prints the state of each server as JSON",
    "authserver status --nagios": "Prints one line with performance data for a monitoring system",
  },
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    timeout: { value: "TIME", default: "5s", help: "Timeout for the answer" },
    nagios: { help: "Print one line for Nagios, Icinga and compatible systems" },
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
