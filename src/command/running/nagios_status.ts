import { listAt, member, numberAt, textAt } from "./reply_value.ts";
import { printable } from "../../model/text.ts";
import { clusterTroubles, sinkTroubles } from "./status_text.ts";

/** Exit statuses of monitoring plugins (Monitoring Plugins Development Guidelines, "Plugin Return Codes"). */
type PluginStatus = 0 | 1 | 2 | 3;

/** What a monitoring plugin says: one line, with performance data behind the bar. */
export interface PluginResult {
  readonly status: PluginStatus;
  readonly line: string; // with its line end
}

const WORDS = ["OK", "WARNING", "CRITICAL", "UNKNOWN"] as const;

/** From so many days before its end on a certificate is a warning. */
const CERTIFICATE_DAYS = 14;

/** The answer to `status` as a monitoring plugin tells it. */
export function nagiosStatus(answer: unknown): PluginResult {
  const servers = listAt(answer, "servers");
  const usable = servers.filter((server) => member(server, "usable") === true);
  const down = servers.filter((server) => member(server, "usable") !== true).map((server) =>
    textAt(server, "name") ?? "?"
  );
  const days = numberAt(answer, "certificate", "daysLeft");
  const core = textAt(answer, "coreDiagnostic");
  const critical = [
    ...(core === undefined ? [] : [`the core does not answer: ${core}`]),
    ...(core === undefined && servers.length > 0 && usable.length === 0 ? ["no server is usable"] : []),
    ...(days !== undefined && days < 0 ? ["the certificate has expired"] : []),
    ...sinkTroubles(answer, true),
  ];
  const warnings = [
    ...(down.length === 0 ? [] : [`down: ${down.join(", ")}`]),
    ...(member(answer, "lastReload", "ok") === false ? ["the configuration on disk is not in use"] : []),
    ...(days !== undefined && days >= 0 && days < CERTIFICATE_DAYS
      ? [`certificate ends in ${days} days`]
      : []),
    ...clusterTroubles(answer),
    ...sinkTroubles(answer, false),
  ];
  const status = critical.length > 0 ? 2 : warnings.length > 0 ? 1 : 0;
  const all = [...critical, ...warnings];
  const says = all.length === 0 ? `${usable.length} of ${servers.length} servers usable` : all.join("; ");
  const measured: readonly (readonly [label: string, value: number | undefined, rest: string])[] = [
    ["servers", usable.length, `;;;0;${servers.length}`],
    ["sessions", numberAt(answer, "sessions", "granted"), "c"],
    ["refused", numberAt(answer, "sessions", "refused"), "c"],
    ["memory", numberAt(answer, "memoryBytes"), "B;;;0"],
    ["certificate_days", days, `;${CERTIFICATE_DAYS}:;0:`],
  ];
  const data = measured.flatMap(([label, value, rest]) =>
    value === undefined ? [] : [`${label}=${value}${rest}`]
  );
  return pluginResult(status, says, data);
}

/** @param says What is the case; @param data Performance data, `label=value…` each. */
export function pluginResult(
  status: PluginStatus,
  says: string,
  data: readonly string[] = [],
): PluginResult {
  const text = printable(says).replaceAll("|", "/");
  const behind = data.length === 0 ? "" : ` | ${data.join(" ")}`;
  return { status, line: `AUTHSERVER ${WORDS[status]} - ${text}${behind}\n` };
}
