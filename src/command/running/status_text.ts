import { counted, printable } from "../../model/text.ts";
import { listAt, member, numberAt, textAt } from "./reply_value.ts";
import { textTable } from "../text_table.ts";

/** What is wrong with a running service, in its own words; nothing if all is well. */
export function troubles(status: unknown): string[] {
  const core = textAt(status, "coreDiagnostic");
  const servers = listAt(status, "servers").filter((server) => member(server, "usable") === false);
  const days = numberAt(status, "certificate", "daysLeft");
  return [
    ...(core === undefined ? [] : [`the core does not answer: ${core}`]),
    ...(member(status, "lastReload", "ok") === false ? ["the configuration on disk is not in use"] : []),
    ...servers.map((server) => `no session is possible on ${textAt(server, "name")}`),
    ...(days !== undefined && days < 0 ? ["the certificate has expired"] : []),
    ...clusterTroubles(status),
    ...sinkTroubles(status),
  ].map(printable);
}

/** Sinks that cannot be written. @param refusing Only those whose failure makes the service refuse requests, or only others. */
export function sinkTroubles(status: unknown, refusing?: boolean): string[] {
  return listAt(status, "sinks").flatMap((sink) => {
    const refuses = member(sink, "refusing") === true;
    if (textAt(sink, "state") !== "failing" || refuses === !(refusing ?? refuses)) return [];
    const lost = numberAt(sink, "lost") ?? 0;
    const consequence = refuses ? ", requests that need it get 503" : lost > 0 ? `, ${lost} lost` : "";
    return [`${textAt(sink, "name")} cannot be written${consequence}: ${textAt(sink, "reason") ?? ""}`];
  });
}

/** What is wrong between several instances of a service. */
export function clusterTroubles(status: unknown): string[] {
  const silent = listAt(status, "instances").filter((each) => textAt(each, "state") === "silent");
  const state = textAt(status, "database", "state");
  const defects = numberAt(status, "database", "defects") ?? 0;
  return [
    ...(state === "away" || state === "degraded"
      ? [`the database is ${state}: ${textAt(status, "database", "reason") ?? ""}`]
      : []),
    ...(defects > 0
      ? [`the database refused ${counted(defects, "statement", "statements")}, see the log`]
      : []),
    ...(member(status, "database", "knowsRevoked") === false
      ? ["tokens of the service are refused until the revoked ones can be read"]
      : []),
    ...(member(status, "configurationsDiffer") === true ? ["instances have different configurations"] : []),
    ...silent.map((each) => `instance ${textAt(each, "name")} is silent`),
  ];
}

/** The answer to `status` as a page for a terminal. */
export function formatStatus(status: unknown): string {
  const rows: [string, string | undefined][] = [
    ["version", textAt(status, "version")],
    ["process", processOf(status)],
    ["configuration", withNumber(textAt(status, "configuration"), "generation", status)],
    ["last reload", lastReload(status)],
    ["port", numberAt(status, "port")?.toString()],
    ["certificate", certificate(status)],
    ["sessions", sessions(status)],
    ["shares", numberAt(status, "shares")?.toString()],
    ["bans", bans(status)],
    ["database", database(status)],
    ["memory", memory(status)],
  ];
  const diagnostics = troubles(status).map((diagnostic) => `  ${diagnostic}\n`).join("");
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

function withNumber(text: string | undefined, name: string, status: unknown): string | undefined {
  const number = numberAt(status, name);
  return text === undefined || number === undefined ? text : `${text}, ${name} ${number}`;
}

function lastReload(status: unknown): string | undefined {
  const at = textAt(status, "lastReload", "at");
  if (at === undefined) return undefined;
  const [first, ...more] = listAt(status, "lastReload", "diagnostics").map(String);
  if (member(status, "lastReload", "ok") === true) return `${moment(at)}, taken over`;
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
  return granted === undefined
    ? undefined
    : `${granted} granted, ${numberAt(status, "sessions", "refused")} refused`;
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
  return [`${Math.round(bytes / 1024 / 1024)} MB`, ...lags].join(", ");
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
    textAt(provider, "method") ?? "",
    state === "down" ? "DOWN" : state,
    textAt(provider, "remote") ?? "",
    textAt(provider, "reason") ?? "",
  ];
}

/** `2026-01-05 09:15:00Z` */
function moment(iso: string | undefined): string {
  return (iso ?? "").replace("T", " ").replace(/\.\d+Z$/, "Z");
}

/** The two greatest units: `2 d 3 h`, `5 min 10 s`. */
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
