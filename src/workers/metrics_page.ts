import type { CoreStatus } from "../resource/admin/admin_request.ts";
import { VERSION } from "../service/version.ts";
import { exposition } from "../metrics/exposition.ts";
import { type Sample, sample } from "../metrics/counters.ts";
import { coreStatus } from "./service_status.ts";
import type { Supervisor } from "./supervisor.ts";

/** Returns the current metrics in the text format of Prometheus. */
export async function metricsPage(supervisor: Supervisor): Promise<string> {
  return exposition(await samples(supervisor));
}

async function samples(supervisor: Supervisor): Promise<Sample[]> {
  const core = await coreStatus(supervisor);
  const { counters, lagMs, sinks } = supervisor.reports;
  const { at, ok } = supervisor.reloads.last;
  return [
    sample("authserver_build_info", { version: VERSION, deno: Deno.version.deno }, 1),
    sample("authserver_start_time_seconds", {}, supervisor.upSince / 1000),
    sample("authserver_resident_memory_bytes", {}, Deno.memoryUsage().rss),
    sample("authserver_core_up", {}, "diagnostic" in core ? 0 : 1),
    sample("authserver_core_generation", {}, supervisor.generation),
    ...[...lagMs].map((
      [worker, ms],
    ): Sample => sample("authserver_event_loop_lag_seconds", { worker }, ms / 1000)),
    sample("authserver_config_last_reload_success", {}, ok ? 1 : 0),
    sample("authserver_config_last_reload_timestamp_seconds", {}, at / 1000),
    ...[...sinks, ...("diagnostic" in core ? [] : core.sinks)].flatMap(({ name, failure, lost }) => [
      sample("authserver_sink_up", { sink: name }, failure === undefined ? 1 : 0),
      sample("authserver_sink_lost_total", { sink: name }, lost),
    ]),
    ...("diagnostic" in core ? [] : samplesOfCore(core)),
    ...counters.samples,
  ];
}

function samplesOfCore({ servers, providers, certificate, bans, shares, cluster }: CoreStatus): Sample[] {
  return [
    ...Object.entries(bans).map(([reason, count]): Sample => sample("authserver_bans", { reason }, count)),
    ...servers.flatMap(({ name: server, instances }) =>
      instances.flatMap(({ instance, up, latencyMs }): Sample[] => {
        const labels = { server, daemon: String(instance) };
        return [
          sample("authserver_daemon_up", labels, up ? 1 : 0),
          ...(latencyMs === undefined
            ? []
            : [sample("authserver_daemon_latency_seconds", labels, latencyMs / 1000)]),
        ];
      })
    ),
    ...providers.flatMap(({ authenticator, up, since }): Sample[] =>
      since === undefined ? [] : [sample("authserver_identity_provider_up", { authenticator }, up ? 1 : 0)]
    ),
    ...(certificate
      ? [sample("authserver_certificate_expiry_timestamp_seconds", {}, certificate.expires / 1000)]
      : []),
    ...(cluster === undefined ? [] : samplesOfInstances(cluster)),
    ...(shares === undefined ? [] : [sample("authserver_shares", {}, shares)]),
  ];
}

function samplesOfInstances(
  { instances, configurationsDiffer, database }: NonNullable<CoreStatus["cluster"]>,
): Sample[] {
  const serving = instances.filter(({ alive }) => alive).length;
  return [
    sample("authserver_instances", { state: "serving" }, serving),
    sample("authserver_instances", { state: "silent" }, instances.length - serving),
    sample("authserver_instances_differ", {}, configurationsDiffer ? 1 : 0),
    sample("authserver_database_up", {}, database.kind === "away" ? 0 : 1),
    sample("authserver_database_degraded", {}, database.kind === "degraded" ? 1 : 0),
    sample("authserver_database_defects_total", {}, database.defects),
  ];
}
