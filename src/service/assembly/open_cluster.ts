import type { ServiceConfig } from "../../config/service_config.ts";
import { InstanceRegister } from "../../instances/instance_register.ts";
import { SharedClock } from "../../instances/shared_clock.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import type { ThrottlingMemory } from "../../throttling/memory.ts";
import type { ThrottlingNews } from "../../throttling/throttling_state.ts";
import { SharedThrottling } from "../../throttling/shared/shared_throttling.ts";
import type { ClusterHealth } from "../../resource/health.ts";
import type { DatabaseStatus, PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import { VERSION } from "../version.ts";
import { configurationDigest } from "./configuration_digest.ts";

/** What a service has of its own among several that are one. */
export interface InstanceName {
  /** Of the process. */
  readonly id: string;
  /** Of the host, for people. */
  readonly host: string;
}

/** What is known of what instances share, for a core that begins while the database is away. */
export interface SharedKnown {
  /** By how much the clock of this machine is behind the database's, in milliseconds. */
  readonly behindMs?: number;
}

/** What one instance of several shares with the others. */
export interface Cluster {
  readonly throttling: SharedThrottling;
  readonly register: InstanceRegister;
  readonly database: () => DatabaseStatus;
  /** How many serve, this one included. */
  readonly clusterMembers: () => number;
  readonly health: () => ClusterHealth;
  /** Begins with what all know. */
  follow(memory: ThrottlingMemory): Promise<void>;
  /** The service ends: the others need not wait until it is silent. */
  leave(): Promise<void>;
  close(): void;
}

/** What an instance joins the others with. */
interface JoiningParts {
  readonly config: ServiceConfig;
  /** Absent for whoever only looks on. */
  readonly instance?: InstanceName;
  readonly port: number;
  readonly upSince: number;
  readonly log: Logger;
  readonly learned?: (news: ThrottlingNews) => void;
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/** What the time is found out with. */
interface ClockParts {
  /** Of this machine. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly known?: SharedKnown;
  readonly learned?: (known: SharedKnown) => void;
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/** What time it is for all that have the same database; without one, for this machine. */
export async function openClock(
  database: PostgresDatabase | undefined,
  { clock, log, known, learned = () => {}, keep }: ClockParts,
): Promise<Clock> {
  if (database === undefined) return clock;
  const shared = keep(
    new SharedClock({
      database,
      clock,
      elapsed: stopwatch,
      log,
      behindMs: known?.behindMs,
      learned: (behindMs) => learned({ behindMs }),
    }),
  );
  await shared.follow();
  return shared.read;
}

/** Puts an instance together with the others that have the same database; without one it is alone. */
export function joinOthers(
  database: PostgresDatabase | undefined,
  { config, instance, port, upSince, log, learned = () => {}, keep }: JoiningParts,
): Cluster | undefined {
  if (database === undefined || instance === undefined) return undefined;
  const { digestSecret, password = "" } = config.sharing.database ?? {};
  const secret = digestSecret ?? password;
  const throttling = new SharedThrottling({ database, secret, log, elapsed: stopwatch, learned });
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
  return keep({
    throttling,
    register,
    database: () => database.status,
    clusterMembers: () => register.alive,
    health: () => ({
      instances: { total: register.known.length, serving: register.alive },
      configurationsDiffer: register.differ,
      degraded: database.status.kind !== "up",
    }),
    follow: async (memory: ThrottlingMemory) => {
      await Promise.all([throttling.follow(memory), register.follow()]);
    },
    leave: () =>
      register.leave().catch((error) => log.warn("the other instances are not told of the end", { error })),
    close: () => {
      for (const part of [throttling, register]) part.close();
    },
  });
}
