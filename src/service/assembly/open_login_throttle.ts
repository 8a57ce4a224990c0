import type { Authenticator } from "../../authentication/authenticator.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, steadyClock } from "../../model/clock.ts";
import type { SharedThrottling } from "../../throttling/shared/shared_throttling.ts";
import { LoginThrottle } from "../../throttling/login_throttle.ts";
import { claimedName } from "../claimed_name.ts";
import type { Publish } from "../state_update.ts";
import type { Cluster } from "./open_cluster.ts";

/** Opens login throttling with the cluster's state. */
export async function openLoginThrottle(
  { throttling }: ServiceConfig,
  authenticators: readonly Authenticator[],
  { log, clock, publish, cluster, storedBans }: {
    readonly log: Logger;
    readonly clock: Clock;
    readonly publish: Publish;
    readonly cluster: Cluster | undefined;
    readonly storedBans: SharedThrottling | undefined;
  },
): Promise<LoginThrottle> {
  const throttle = new LoginThrottle({
    config: throttling,
    log,
    shown: (name) => claimedName(name, authenticators),
    steady: steadyClock,
    clock,
    issuers: silentIssuers(authenticators),
    learned: (throttling) => publish({ throttling }),
    others: cluster?.throttling,
    clusterMembers: cluster?.clusterMembers,
  });
  await (cluster ?? storedBans)?.follow(throttle.memory);
  return throttle;
}

/** Issuers without online check of their tokens. */
function silentIssuers(authenticators: readonly Authenticator[]): ReadonlySet<string> {
  const issuers = authenticators.flatMap(({ issuer }) => issuer ?? []);
  const asked = new Set(issuers.filter(({ asked }) => asked).map(({ url }) => url));
  return new Set(issuers.map(({ url }) => url).filter((url) => !asked.has(url)));
}
