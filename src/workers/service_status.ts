import type { CoreStatus } from "../service/operator_desk.ts";
import type { Sample } from "../metrics/series.ts";
import { VERSION } from "../service/version.ts";
import { ask, NoAnswer } from "./desk_link.ts";
import type { LastReload } from "./reload_record.ts";
import type { Supervisor } from "./supervisor.ts";

/** How the service is, for its operator. Times are texts as in `2026-01-05T09:15:00.123Z`. */
interface ServiceStatus {
  readonly version: string;
  readonly pid: number;
  /** Absolute path of the main configuration file. */
  readonly configuration: string;
  readonly port: number;
  readonly generation: number;
  readonly upSince: string;
  readonly uptimeSeconds: number;
  readonly lastReload: Omit<LastReload, "at"> & { readonly at: string };
  /** Why the core does not answer; all that only it knows is then missing. */
  readonly coreDiagnostic?: string;
  readonly servers?: CoreStatus["servers"];
  readonly identityProviders?: readonly IdentityProvider[];
  readonly certificate?: { readonly dn: string; readonly expires: string; readonly daysLeft: number };
  readonly shares?: number;
  /** Absent: this instance is alone. */
  readonly database?: {
    readonly state: "up" | "degraded" | "away";
    /** Reason why the daemon is down. */
    readonly reason?: string;
    readonly awaySeconds: number;
    /** Statements that it refused as wrong. */
    readonly defects: number;
  };
  readonly instances?: readonly InstanceEntry[];
  /** Whether instances of the same version have different configurations. */
  readonly configurationsDiffer?: boolean;
  readonly bans?: CoreStatus["bans"];
  /** Since the start of the process. */
  readonly sessions: { readonly granted: number; readonly refused: number };
  readonly memoryBytes: number;
  /** Longest delay of a timer, by worker. */
  readonly eventLoopLagMs: Readonly<Record<string, number>>;
  /** Longest such delay because of work of the worker itself, and not because the machine had no processor free. */
  readonly eventLoopOwnLagMs: Readonly<Record<string, number>>;
}

/** Another system that a method asks, for the operator. */
interface IdentityProvider {
  readonly authenticator: string;
  /** `host:port`. */
  readonly remote: string;
  readonly state: "up" | "down" | "unknown";
  readonly reason?: string;
}

/** One of several instances, for the operator. */
interface InstanceEntry {
  /** `host:port`. */
  readonly name: string;
  readonly state: "serving" | "silent";
  /** Whether this instance gave the answer. */
  readonly own: boolean;
  readonly version: string;
  /** Digest of what must be the same on all. */
  readonly configuration: string;
  readonly upSince: string;
  readonly seenSeconds: number;
}

/** What the status is made from. */
export interface StatusParts {
  readonly supervisor: Supervisor;
  /** Absolute path of the main configuration file. */
  readonly configuration: string;
}

/** Longest wait for the core, in milliseconds. */
const CORE_MS = 2000;

const DAY_MS = 24 * 3600 * 1000;

/** What the core says of itself, or why it says nothing. */
export async function coreStatus(
  supervisor: Supervisor,
): Promise<CoreStatus | { readonly diagnostic: string }> {
  try {
    return (await ask(supervisor, { about: "status" }, CORE_MS)).status;
  } catch (error) {
    if (error instanceof NoAnswer) return { diagnostic: error.message };
    throw error;
  }
}

/** State of the whole service, for `status` and the metrics; without what only the core knows if that gives no answer. */
export async function serviceStatus(
  { supervisor, configuration }: StatusParts,
): Promise<ServiceStatus> {
  const core = await coreStatus(supervisor);
  const now = Date.now();
  const { at, ...reload } = supervisor.reloads.last;
  const { counters, lagMs, ownLagMs } = supervisor.reports;
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
    sessions: sessionsIn(counters.samples),
    memoryBytes: Deno.memoryUsage().rss,
    eventLoopLagMs: Object.fromEntries(lagMs),
    eventLoopOwnLagMs: Object.fromEntries(ownLagMs),
  };
}

function knownToCore({ servers, providers, certificate, shares, bans, cluster }: CoreStatus, now: number) {
  return {
    servers,
    identityProviders: providers.map(({ authenticator, remote, up, reason, since }): IdentityProvider => ({
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
  { instances, configurationsDiffer, database }: NonNullable<CoreStatus["cluster"]>,
) {
  return {
    database: {
      state: database.kind,
      reason: database.kind === "up" ? undefined : database.reason,
      awaySeconds: Math.round(database.awayMs / 1000),
      defects: database.defects,
    },
    instances: instances.map((each): InstanceEntry => ({
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

function sessionsIn(samples: Iterable<Sample>): ServiceStatus["sessions"] {
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
