import type { CoreStatus } from "../service/operator_desk.ts";
import { VERSION } from "../service/version.ts";
import { exposition, EXPOSITION_TYPE } from "../metrics/exposition.ts";
import { series } from "../metrics/series.ts";
import type { Answer, EdgeResponse } from "../edge/message.ts";
import { coreStatus, type StatusParts } from "./service_status.ts";

type Sample = readonly [series: string, value: number];

/** Answers `GET /metrics`, and nothing else. */
export function metricsPage(parts: StatusParts): Answer {
  return async ({ method, target }) => {
    if (target.split("?")[0] !== "/metrics") return plain(404, "There is nothing here, see /metrics\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "Expected GET\n", ["Allow", "GET, HEAD"]);
    const text = exposition(await samples(parts));
    return { ...plain(200, text), headers: ["Content-Type", EXPOSITION_TYPE, "Cache-Control", "no-store"] };
  };
}

function plain(status: number, body: string, headers: readonly string[] = []): EdgeResponse {
  return { status, headers: ["Content-Type", "text/plain; charset=utf-8", ...headers], body };
}

async function samples({ supervisor, reloads }: StatusParts): Promise<Sample[]> {
  const core = await coreStatus(supervisor);
  const { counters, lagMs } = supervisor.reports;
  const { at, ok } = reloads.last;
  return [
    [series("authserver_build_info", { version: VERSION, deno: Deno.version.deno }), 1],
    [series("authserver_start_time_seconds", {}), supervisor.upSince / 1000],
    [series("authserver_resident_memory_bytes", {}), Deno.memoryUsage().rss],
    [series("authserver_core_up", {}), "problem" in core ? 0 : 1],
    [series("authserver_core_generation", {}), supervisor.generation],
    ...[...lagMs].map((
      [room, ms],
    ): Sample => [series("authserver_event_loop_lag_seconds", { room }), ms / 1000]),
    [series("authserver_config_last_reload_success", {}), ok ? 1 : 0],
    [series("authserver_config_last_reload_timestamp_seconds", {}), at / 1000],
    ...("problem" in core ? [] : samplesOfCore(core)),
    ...counters.values,
  ];
}

function samplesOfCore({ servers, providers, certificate, bans, shares }: CoreStatus): Sample[] {
  return [
    ...Object.entries(bans).map(([reason, count]): Sample => [series("authserver_bans", { reason }), count]),
    ...servers.flatMap(({ name: server, instances }) =>
      instances.flatMap(({ instance, up, latencyMs }): Sample[] => {
        const labels = { server, daemon: String(instance) };
        return [
          [series("authserver_daemon_up", labels), up ? 1 : 0],
          ...(latencyMs === undefined
            ? []
            : [[series("authserver_daemon_latency_seconds", labels), latencyMs / 1000] as const]),
        ];
      })
    ),
    ...providers.flatMap(({ method, up, since }): Sample[] =>
      since === undefined ? [] : [[series("authserver_identity_provider_up", { method }), up ? 1 : 0]]
    ),
    ...(certificate
      ? [[series("authserver_certificate_expiry_timestamp_seconds", {}), certificate.expires / 1000] as const]
      : []),
    ...(shares === undefined ? [] : [[series("authserver_shares", {}), shares] as const]),
  ];
}
