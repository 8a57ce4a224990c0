import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { accountsOf } from "../../attributes/server_attributes.ts";
import { type AuthenticationChain, unauthenticated } from "../../authentication/chain.ts";
import type { AskAccountStatus } from "../../authentication/account_status.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import { Secret } from "../../model/secret.ts";
import type { Notifications } from "../../notify/notifications.ts";
import { throttleLogin } from "../../throttling/throttle_login.ts";
import type { LoginThrottle } from "../../throttling/login_throttle.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { OpenSharing } from "../../resource/share/open_sharing.ts";
import type { Database } from "../../store/database.ts";
import type { SharedMarks } from "../../store/shared_marks.ts";
import type { RequestObserver } from "../request_observer.ts";

/** Opens data sharing if some server has it; creates a missing database. */
export async function openDataSharing(
  { sharing, features }: ServiceConfig,
  { throttle, database, chain, observer, keep, notifications, ...others }: {
    readonly notifications: Notifications | undefined;
    readonly database: Database | undefined;
    readonly marks: SharedMarks | undefined;
    readonly servers: ReadonlyMap<string, ServerFacts>;
    readonly attributes: AttributeSource;
    readonly accountStatus: AskAccountStatus;
    readonly throttle: LoginThrottle;
    readonly chain: AuthenticationChain;
    readonly observer: RequestObserver;
    readonly sinks: Sinks;
    readonly log: Logger;
    readonly clock: Clock;
    readonly keep: <T extends { close(): void }>(part: T) => T;
  },
): Promise<OpenSharing | undefined> {
  const { servers: shared, directory, clientAddresses, allowWriteAccess, maxLifetimeSeconds, maxPerUser } =
    sharing;
  const place = database ?? directory;
  if (shared.length === 0 || place === undefined || !(features.share || features.access)) return undefined;
  // Imported on use, as everything that only shares need.
  const { openSharing } = await import("../../resource/share/open_sharing.ts");
  return keep(openSharing({
    ...others,
    ...{ place, clientAddresses, allowWriteAccess, maxLifetimeSeconds, maxPerUser },
    recorder: notifications?.recorder,
    guess: ({ link, clientAddress, signal }, look) => {
      const authorization = { kind: "basic", user: `link ${link}`, password: new Secret("") } as const;
      return throttleLogin(throttle.admit({ clientAddress, authorization }, signal), look);
    },
    watch: ({ caller, clientAddress, user }, end) =>
      throttle.watch({ caller, clientAddress, accounts: accountsOf(user) }, end),
    unauthenticated: (reason) => unauthenticated(chain, reason),
    transferred: (direction, bytes) => observer.transferred(direction, bytes),
  }));
}
