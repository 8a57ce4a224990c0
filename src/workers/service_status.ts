import type { AdminAnswer, AdminRequest, CoreStatus } from "../resource/admin/admin_request.ts";
import { type Sample, sample } from "../metrics/counters.ts";
import { isoTime } from "../model/clock.ts";
import { VERSION } from "../service/version.ts";
import { NoAnswer } from "./serving_core.ts";
import type { WorkerReports } from "./worker_reports.ts";
import { endsSoon } from "../model/trust/certificate_facts.ts";
import { exposition } from "../metrics/exposition.ts";

const CORE_MS = 2000; // longest wait for the core, in milliseconds

const DAY_MS = 24 * 3600 * 1000;

interface ServiceState {
  readonly reports: WorkerReports;
  readonly port: number;
  readonly generation: number;
  readonly upSince: number; // milliseconds since the epoch
  readonly auditRequired: boolean;
  call(request: AdminRequest, withinMs: number): Promise<AdminAnswer>;
}

async function coreStatus(
  supervisor: ServiceState,
): Promise<CoreStatus | Pick<CoreStatus, "refusedFiles"> & { readonly diagnostic: string }> {
  const { refusedCertificates } = supervisor.reports;
  try {
    const answer = await supervisor.call({ command: "status" }, CORE_MS);
    if (!("status" in answer)) throw new TypeError("the core answered another request");
    return { ...answer.status, refusedFiles: [...refusedCertificates, ...answer.status.refusedFiles] };
  } catch (error) {
    if (error instanceof NoAnswer) return { diagnostic: error.message, refusedFiles: refusedCertificates };
    throw error;
  }
}

/** Returns the state for `status`, with ISO 8601 times. @param parts.configuration Absolute path of the main file. */
export async function serviceStatus(
  { supervisor, configuration }: { readonly supervisor: ServiceState; readonly configuration: string },
) {
  const core = await coreStatus(supervisor);
  const now = Date.now();
  const { at, ...reload } = supervisor.reports.lastReload;
  const { counters, lagMs, ownLagMs, sinks } = supervisor.reports;
  return {
    version: VERSION,
    pid: Deno.pid,
    configuration,
    port: supervisor.port,
    generation: supervisor.generation,
    upSince: isoTime(supervisor.upSince),
    uptimeSeconds: Math.round((now - supervisor.upSince) / 1000),
    lastReload: { at: isoTime(at), ...reload },
    ...("diagnostic" in core ? { coreDiagnostic: core.diagnostic } : knownToCore(core, now)),
    sinks: [...sinks, ...("diagnostic" in core ? [] : core.sinks)].map(({ name, failure, lost }) => ({
      name,
      state: failure === undefined ? "written" : "failing",
      reason: failure?.reason,
      since: failure && isoTime(failure.since),
      lost,
      refusing: name === "audit" && failure !== undefined && supervisor.auditRequired ? true : undefined,
    })),
    refusedFiles: core.refusedFiles,
    sessions: sessionsIn(counters.samples),
    memoryBytes: Deno.memoryUsage().rss,
    eventLoopLagMs: Object.fromEntries(lagMs),
    eventLoopOwnLagMs: Object.fromEntries(ownLagMs),
  };
}

function knownToCore({ servers, providers, certificate, shares, bans, cluster }: CoreStatus, now: number) {
  return {
    servers,
    identityProviders: providers.map(({ authenticator, remote, up, reason, since }) => ({
      authenticator,
      remote,
      state: since === undefined ? "unknown" : up ? "up" : "down",
      reason,
    })),
    certificate: certificate && {
      dn: certificate.dn,
      expires: isoTime(certificate.expires),
      daysLeft: Math.floor((certificate.expires - now) / DAY_MS),
      endsSoon: endsSoon({ from: certificate.starts, to: certificate.expires }, now, 14),
    },
    shares,
    bans,
    ...(cluster === undefined ? {} : ofInstances(cluster)),
  };
}

function ofInstances(
  { instances, configurationsDiffer, database, knowsRevoked }: NonNullable<CoreStatus["cluster"]>,
) {
  return {
    database: {
      state: database.kind,
      reason: database.kind === "up" ? undefined : database.reason,
      awaySeconds: Math.round(database.outageMs / 1000),
      defects: database.refused,
      knowsRevoked,
    },
    instances: instances.map((each) => ({
      name: each.name,
      state: each.alive ? "serving" : "silent",
      own: each.own,
      version: each.version,
      configuration: each.configuration,
      upSince: isoTime(each.upSince),
      seenSeconds: Math.round(each.ageMs / 1000),
    })),
    configurationsDiffer,
  };
}

function sessionsIn(samples: Iterable<Sample>) {
  const sessions = { granted: 0, refused: 0 };
  for (const { family, labels, value } of samples) {
    if (family === "authserver_sessions_total") {
      sessions[labels.decision === "granted" ? "granted" : "refused"] += value;
    }
  }
  return sessions;
}

/** Returns the current metrics in the text format of Prometheus. */
export async function metricsPage(supervisor: ServiceState): Promise<string> {
  return exposition(await samples(supervisor));
}

async function samples(supervisor: ServiceState): Promise<Sample[]> {
  const core = await coreStatus(supervisor);
  const { counters, lagMs, sinks } = supervisor.reports;
  const { at, ok } = supervisor.reports.lastReload;
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
    sample("authserver_refused_files", {}, core.refusedFiles.length),
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
      ? [
        sample("authserver_certificate_start_timestamp_seconds", {}, certificate.starts / 1000),
        sample("authserver_certificate_expiry_timestamp_seconds", {}, certificate.expires / 1000),
      ]
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
