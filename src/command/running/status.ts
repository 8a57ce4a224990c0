import { onError } from "../../model/attempt.ts";
import { CommandFailed, defineCommand, textTable, WrongUsage } from "../command.ts";
import { listAt, member, numberAt, textAt } from "./answer.ts";
import { askRunning, NotRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { parseDuration } from "../../model/clock.ts";
import { counted, printable } from "../../model/text.ts";

const MAX_TIMEOUT = 86_400; // seconds; timers take at most 24 days

/** `authserver status` */
export const status = defineCommand({
  name: "status",
  summary: "Show the status of the running service",
  details: [
    "Exit status 0: the service is healthy; 1: the service has problems, which the output lists, or does not answer; 3: the service does not run. Problems: a server, identity provider or attribute source is down; an instance is silent or has a different configuration; the last reload failed; a file or renewed certificate is unusable; the certificate has expired; audit lines, log or databases cannot be written; the database is degraded or refused a statement; the revoked tokens cannot be read; the core does not answer.",
    "With --nagios, the exit status follows the plugin convention: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
    "Run it as the user of the service or as root. It also works if the configuration is invalid.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    timeout: { value: "TIME", default: "5s", help: "Timeout for the answer, at most 1d" },
    nagios: { help: "Print one line for Nagios, Icinga and compatible systems" },
  },
}, async (given, io) => {
  const time = given.text("timeout") ?? "";
  const seconds = parseDuration(/^[0-9]+$/.test(time) ? `${time}s` : time); // monitoring systems pass plain seconds
  if (seconds === undefined || seconds > MAX_TIMEOUT) {
    throw new WrongUsage("Expected a time such as 5, 5s or 1m, at most 1d, behind --timeout");
  }
  if (given.flag("nagios") && given.flag("json")) {
    throw new WrongUsage("Expected --nagios or --json, found both");
  }
  const ask = () => askRunning(given, { command: "status" }, seconds * 1000);
  if (given.flag("nagios")) {
    const { status, line } = await forMonitoring(ask);
    io.stdout(line);
    return status;
  }
  const answer = await ask().catch(onError(NotRunning, (error) => {
    throw new CommandFailed(error.message, { status: 3, cause: error });
  }));
  return { value: answer, text: formatStatus(answer), status: problems(answer).length === 0 ? 0 : 1 };
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

/** Returns the problems of a running service; `critical` if it cannot serve, or less than it should. */
function problems(status: unknown): { readonly text: string; readonly critical: boolean }[] {
  const core = textAt(status, "coreDiagnostic");
  const days = numberAt(status, "certificate", "daysLeft");
  const state = textAt(status, "database", "state");
  const defects = numberAt(status, "database", "defects") ?? 0;
  const named = (list: string, isWrong: (each: unknown) => boolean) =>
    listAt(status, list).filter(isWrong).map((each) => textAt(each, "name") ?? "?");
  const critical = [
    core !== undefined && `the core does not answer: ${core}`,
    days !== undefined && days < 0 && "the certificate has expired",
    ...sinkTroubles(status, true),
  ];
  const others = [
    member(status, "lastReload", "ok") === false && "the configuration on disk is not in use",
    ...listAt(status, "refusedFiles").map((each) => `a file on disk is not in use: ${each}`),
    ...named("servers", (server) => member(server, "usable") !== true).map((name) =>
      `no session is possible on ${name}`
    ),
    ...listAt(status, "identityProviders").filter((each) => textAt(each, "state") === "down").map((each) =>
      `${textAt(each, "authenticator")}: ${textAt(each, "remote")} is down: ${textAt(each, "reason") ?? ""}`
    ),
    (state === "away" || state === "degraded") &&
    `the database is ${state}: ${textAt(status, "database", "reason") ?? ""}`,
    defects > 0 && `the database refused ${counted(defects, "statement", "statements")}, see the log`,
    member(status, "database", "knowsRevoked") === false &&
    "tokens of the service are refused until the revoked ones can be read",
    member(status, "configurationsDiffer") === true && "instances have different configurations",
    ...named("instances", (each) => textAt(each, "state") === "silent").map((name) =>
      `instance ${name} is silent`
    ),
    ...sinkTroubles(status, false),
  ];
  const marked = (texts: readonly (string | false)[], critical: boolean) =>
    texts.filter((text) => text !== false).map((text) => ({ text: printable(text), critical }));
  return [...marked(critical, true), ...marked(others, false)];
}

/** Returns the sinks that cannot be written. @param refusing Selects sinks whose failure makes the service refuse requests. */
function sinkTroubles(status: unknown, refusing: boolean): string[] {
  return listAt(status, "sinks").flatMap((sink) => {
    if (textAt(sink, "state") !== "failing" || (member(sink, "refusing") === true) !== refusing) return [];
    const lost = numberAt(sink, "lost") ?? 0;
    const consequence = refusing ? ", requests that need it get 503" : lost > 0 ? `, ${lost} lost` : "";
    return [`${textAt(sink, "name")} cannot be written${consequence}: ${textAt(sink, "reason") ?? ""}`];
  });
}

function formatStatus(status: unknown): string {
  const rows: [string, string | undefined][] = [
    ["version", textAt(status, "version")],
    ["process", processOf(status)],
    ["configuration", `${textAt(status, "configuration")}, generation ${numberAt(status, "generation")}`],
    ["last reload", lastReload(status)],
    ["port", numberAt(status, "port")?.toString()],
    ["certificate", certificate(status)],
    ["sessions", sessions(status)],
    ["shares", numberAt(status, "shares")?.toString()],
    ["bans", bans(status)],
    ["database", database(status)],
    ["memory", memory(status)],
  ];
  const diagnostics = problems(status).map(({ text }) => `  ${text}\n`).join("");
  return [
    textTable(rows.flatMap(([name, value]) => value === undefined ? [] : [[name, value]])),
    section("Servers", listAt(status, "servers").flatMap(serverRows)),
    section("Instances", listAt(status, "instances").map(instanceRow)),
    section("Identity providers", listAt(status, "identityProviders").map(providerRow)),
    diagnostics && `Problems:\n${diagnostics}`,
  ].filter((part) => part !== "").join("\n");
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${title}:\n${textTable(rows, { indent: 2 })}`;
}

function processOf(status: unknown): string | undefined {
  const seconds = numberAt(status, "uptimeSeconds");
  const pid = numberAt(status, "pid");
  if (seconds === undefined || pid === undefined) return undefined;
  return `${pid}, up ${formatDuration(seconds)} since ${moment(textAt(status, "upSince"))}`;
}

function lastReload(status: unknown): string | undefined {
  const at = textAt(status, "lastReload", "at");
  if (at === undefined) return undefined;
  const [first, ...more] = listAt(status, "lastReload", "diagnostics").map(String);
  if (member(status, "lastReload", "ok") === true) return `${moment(at)}, applied`;
  const further = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return `${moment(at)}, FAILED: ${first ?? ""}${further}`;
}

function certificate(status: unknown): string | undefined {
  const days = numberAt(status, "certificate", "daysLeft");
  if (days === undefined) return undefined;
  const dn = textAt(status, "certificate", "dn");
  return `${days} days left, until ${moment(textAt(status, "certificate", "expires"))}, ${dn}`;
}

function sessions(status: unknown): string | undefined {
  const granted = numberAt(status, "sessions", "granted");
  if (granted === undefined) return undefined;
  return `${granted} granted, ${numberAt(status, "sessions", "refused")} refused`;
}

function bans(status: unknown): string | undefined {
  const count = (reason: string) => numberAt(status, "bans", reason) ?? 0;
  if (member(status, "bans") === undefined) return undefined;
  return `${count("passwords")} for passwords, ${count("tokens")} for tokens, ${count("operator")} by hand`;
}

function database(status: unknown): string | undefined {
  const seconds = numberAt(status, "database", "awaySeconds") ?? 0;
  const state = textAt(status, "database", "state");
  return state === "away" ? `AWAY for ${formatDuration(seconds)}` : state;
}

function memory(status: unknown): string | undefined {
  const bytes = numberAt(status, "memoryBytes");
  if (bytes === undefined) return undefined;
  const lags = ["core", "edge"].flatMap((worker) => {
    const ms = numberAt(status, "eventLoopLagMs", worker);
    return ms === undefined ? [] : [`${worker} ${ms} ms late`];
  });
  return [`${Math.round(bytes / 1024 / 1024)} MiB`, ...lags].join(", ");
}

function serverRows(server: unknown): string[][] {
  const name = textAt(server, "name") ?? "";
  return listAt(server, "instances").map((instance, i) => {
    const up = member(instance, "up") === true;
    const latency = numberAt(instance, "latencyMs");
    const detail = up ? (latency === undefined ? "" : `${latency} ms`) : textAt(instance, "reason") ?? "";
    const doubt = member(instance, "unverifiable") === true ? "ITS CERTIFICATE PROVES NOTHING" : "";
    const last = [detail, doubt].filter((text) => text !== "").join(", ");
    return [i === 0 ? name : "", up ? "up" : "DOWN", textAt(instance, "address") ?? "", last];
  });
}

function instanceRow(instance: unknown): string[] {
  const state = textAt(instance, "state") ?? "";
  const seconds = numberAt(instance, "seenSeconds") ?? 0;
  return [
    textAt(instance, "name") ?? "",
    state === "silent" ? `SILENT for ${formatDuration(seconds)}` : state,
    textAt(instance, "version") ?? "",
    `configuration ${textAt(instance, "configuration") ?? ""}`,
    member(instance, "own") === true ? "this one" : "",
  ];
}

function providerRow(provider: unknown): string[] {
  const state = textAt(provider, "state") ?? "";
  return [
    textAt(provider, "authenticator") ?? "",
    state === "down" ? "DOWN" : state,
    textAt(provider, "remote") ?? "",
    textAt(provider, "reason") ?? "",
  ];
}

/** `2026-01-05 09:15:00Z` */
function moment(iso: string | undefined): string {
  return (iso ?? "").replace("T", " ").replace(/\.\d+Z$/, "Z");
}

/** Formats seconds in the two greatest units: `2 d 3 h`, `5 min 10 s`. */
export function formatDuration(seconds: number): string {
  const units: [string, number][] = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  let rest = seconds;
  return units.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return `${count} ${name}`;
  }).join(" ");
}

/** Output of a monitoring plugin: one line, with performance data behind the bar. */
export interface PluginResult {
  readonly status: 0 | 1 | 2 | 3; // Monitoring Plugins Development Guidelines, "Plugin Return Codes"
  readonly line: string; // with its line end
}

const WORDS = ["OK", "WARNING", "CRITICAL", "UNKNOWN"] as const;

/** Formats the answer to `status` for a monitoring system. */
export function nagiosStatus(answer: unknown): PluginResult {
  const servers = listAt(answer, "servers");
  const usable = servers.filter((server) => member(server, "usable") === true);
  const days = numberAt(answer, "certificate", "daysLeft");
  const found = problems(answer);
  const all = found.map(({ text }) => text);
  const endsSoon = days !== undefined && days >= 0 && member(answer, "certificate", "endsSoon") === true;
  if (endsSoon) all.push(`certificate ends at ${moment(textAt(answer, "certificate", "expires"))}`);
  const isCritical = found.some(({ critical }) => critical) || (servers.length > 0 && usable.length === 0);
  const status = isCritical ? 2 : all.length > 0 ? 1 : 0;
  const says = all.length === 0 ? `${usable.length} of ${servers.length} servers usable` : all.join("; ");
  const measured: readonly (readonly [label: string, value: number | undefined, rest: string])[] = [
    ["servers", usable.length, `;;;0;${servers.length}`],
    ["sessions", numberAt(answer, "sessions", "granted"), "c"],
    ["refused", numberAt(answer, "sessions", "refused"), "c"],
    ["memory", numberAt(answer, "memoryBytes"), "B;;;0"],
    ["certificate_days", days, ";;0:"],
  ];
  const data = measured.flatMap(([label, value, rest]) =>
    value === undefined ? [] : [`${label}=${value}${rest}`]
  );
  return pluginResult(status, says, data);
}

/** Returns the result of a monitoring plugin. @param data Performance data, each as `label=value…`. */
export function pluginResult(
  status: PluginResult["status"],
  says: string,
  data: readonly string[] = [],
): PluginResult {
  const text = printable(says).replaceAll("|", "/");
  const behind = data.length === 0 ? "" : ` | ${data.join(" ")}`;
  return { status, line: `AUTHSERVER ${WORDS[status]} - ${text}${behind}\n` };
}
