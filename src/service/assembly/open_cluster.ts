import type { ServiceConfig } from "../../config/service_config.ts";
import { InstanceRegister } from "../../instances/instance_register.ts";
import { SharedClock } from "../../instances/shared_clock.ts";
import { SharedReplayCache } from "../../instances/shared_replay_cache.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import type { ReplayCache, ReplayRecord } from "../../model/replay_cache.ts";
import type { ThrottlingMemory } from "../../throttling/memory.ts";
import { SharedThrottling } from "../../throttling/shared/shared_throttling.ts";
import type { ClusterHealth } from "../../resource/health.ts";
import type { PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import { Leases } from "../../store/leases.ts";
import { SqliteDatabase } from "../../store/sqlite_database.ts";
import { RECORD_DATABASE, RECORD_SCHEMA } from "../../store/sqlite_record_store.ts";
import type { Opening } from "./service_options.ts";
import { VERSION } from "../version.ts";
import { hash } from "node:crypto";
import { dirname } from "node:path";

/** State shared by the instances. */
export type Cluster = NonNullable<ReturnType<typeof joinOthers>>;

/** Joins the cluster of the shared database; without an instance, only its clock is read. */
export async function openCluster(
  database: PostgresDatabase,
  opening: Opening,
): Promise<{ readonly sharedClock: Clock; readonly cluster: Cluster | undefined }> {
  const { clock, log, state, publish, autoClose } = opening;
  const shared = new SharedClock({
    database,
    clock,
    elapsed: stopwatch,
    log,
    behindMs: state?.behindMs,
    learned: (behindMs) => publish({ behindMs }),
  });
  autoClose(shared);
  await shared.start();
  return { sharedClock: shared.read, cluster: joinOthers(database, opening) };
}

/** Opens the bans that a single instance keeps across restarts, if it has a database. */
export function openOwnBans(
  { config: { sharing: { database, directory } }, generation, log, clock, autoClose, publish, sinks }:
    Opening,
): SharedThrottling | undefined {
  if (database !== undefined || directory === undefined) return undefined;
  const file = `${directory}/${RECORD_DATABASE}`;
  return autoClose(
    new SharedThrottling({
      database: autoClose(new SqliteDatabase(file, RECORD_SCHEMA, clock, sinks.of("records"))),
      secret: "", // failed logins stay in memory
      log,
      elapsed: stopwatch,
      onUpdate: (throttling) => publish({ throttling }),
      singleInstance: { known: generation > 1 },
    }),
  );
}

function joinOthers(
  database: PostgresDatabase,
  { config, instance, port, upSince, clock, log, publish, autoClose }: Opening,
) {
  if (instance === undefined) return undefined;
  const { digestSecret, password = "" } = config.sharing.database ?? {};
  const throttling = new SharedThrottling({
    database,
    secret: digestSecret ?? password,
    log,
    elapsed: stopwatch,
    onUpdate: (throttling) => publish({ throttling }),
  });
  const register = new InstanceRegister({
    database,
    log,
    own: {
      id: instance.id,
      name: `${instance.host}:${port}`,
      version: VERSION,
      configuration: configurationDigest(config),
      upSince,
    },
  });
  const leases = new Leases(database, { log });
  return autoClose({
    throttling,
    register,
    leases,
    database: () => database.status,
    /** Shares a replay cache with the other instances. */
    shared: (proofs: ReplayCache): ReplayRecord => new SharedReplayCache(proofs, { leases, clock, log }),
    clusterMembers: () => register.alive, // serving instances, including this
    health: (): ClusterHealth => ({
      instances: { total: register.known.length, serving: register.alive },
      configurationsDiffer: register.differ,
      degraded: database.status.kind !== "up",
    }),
    /** Loads and follows the throttling state. */
    follow: async (memory: ThrottlingMemory) => {
      await Promise.all([throttling.follow(memory), register.start(), leases.start()]);
    },
    /** Announces the shutdown, so that others need not wait for a timeout. */
    leave: () =>
      register.leave().catch((error) => log.warn("end not announced to other instances", { error })),
    retire: () => register.close(),
    close: () => {
      for (const part of [throttling, register, leases]) part.close();
    },
  });
}

/** Keys that may differ between instances: addresses, folders, admin access. */
const OWN: ReadonlySet<string> = new Set([
  "sources",
  "credential",
  "logging",
  "audit",
  "control",
  "metrics",
  "liveReload",
  "drainSeconds",
  "directory",
  "origin",
  "keyOrigin",
]);

/** Returns a digest to compare the configurations of instances: without secrets, paths relative to the main file. */
export function configurationDigest(config: ServiceConfig): string {
  const folder = dirname(dirname(config.sources.main));
  const { name, externalUrl, externalUrlGiven } = config.site;
  const site = { name, externalUrl: externalUrlGiven ? externalUrl : undefined };
  const common = JSON.stringify({ ...config, site }, (name, value: unknown) => {
    if (OWN.has(name) || /password|secret/i.test(name)) return undefined;
    return typeof value === "string" && value.startsWith(`${folder}/`) ? value.slice(folder.length) : value;
  });
  return hash("sha256", common, "base64url").slice(0, 12);
}
