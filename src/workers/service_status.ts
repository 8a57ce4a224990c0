import type { CoreStatus } from "../resource/admin/admin_request.ts";
import type { Sample } from "../metrics/counters.ts";
import { VERSION } from "../service/version.ts";
import { NoAnswer } from "./admin_calls.ts";
import type { Supervisor } from "./supervisor.ts";

/** Longest wait for the core, in milliseconds. */
const CORE_MS = 2000;

const DAY_MS = 24 * 3600 * 1000;

/** Returns the core's state, or why it does not answer. */
export async function coreStatus(
  supervisor: Supervisor,
): Promise<CoreStatus | { readonly diagnostic: string }> {
  try {
    const answer = await supervisor.call({ command: "status" }, CORE_MS);
    if ("status" in answer) return answer.status;
    throw new TypeError("the core answered another request");
  } catch (error) {
    if (error instanceof NoAnswer) return { diagnostic: error.message };
    throw error;
  }
}

/**
 * Returns the service's state for `status`, with ISO 8601 times. Without a core's answer, `coreDiagnostic` says why.
 * @param parts.configuration Absolute path of the main configuration file.
 */
export async function serviceStatus(
  { supervisor, configuration }: { readonly supervisor: Supervisor; readonly configuration: string },
) {
  const core = await coreStatus(supervisor);
  const now = Date.now();
  const { at, ...reload } = supervisor.reloads.last;
  const { counters, lagMs, ownLagMs, sinks } = supervisor.reports;
  return {
    version: VERSION,
    pid: Deno.pid,
    configuration,
    port: supervisor.port,
    generation: supervisor.generation,
    upSince: iso(supervisor.upSince),
    uptimeSeconds: Math.round((now - supervisor.upSince) / 1000),
    lastReload: { at: iso(at), ...reload },
    ...("diagnostic" in core ? { coreDiagnostic: core.diagnostic } : knownToCore(core, now)),
    sinks: [...sinks, ...("diagnostic" in core ? [] : core.sinks)].map(({ name, failure, lost }) => ({
      name,
      state: failure === undefined ? "written" : "failing",
      reason: failure?.reason,
      since: failure && iso(failure.since),
      lost,
      refusing: name === "audit" && failure !== undefined && supervisor.auditRequired ? true : undefined,
    })),
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
      expires: iso(certificate.expires),
      daysLeft: Math.floor((certificate.expires - now) / DAY_MS),
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
      awaySeconds: Math.round(database.awayMs / 1000),
      defects: database.defects,
      knowsRevoked,
    },
    instances: instances.map((each) => ({
      name: each.name,
      state: each.alive ? "serving" : "silent",
      own: each.own,
      version: each.version,
      configuration: each.configuration,
      upSince: iso(each.upSince),
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

function iso(at: number): string {
  return new Date(at).toISOString();
}
