import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { accountsOf } from "../../attributes/server_attributes.ts";
import { type AuthenticationChain, unauthenticated } from "../../authentication/chain.ts";
import type { AskAccountStatus } from "../../authentication/account_status.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import { Secret } from "../../model/secret.ts";
import { throttleLogin } from "../../throttling/throttle_login.ts";
import type { LoginThrottle } from "../../throttling/login_throttle.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import type { DavParts } from "../../resource/dav/dav.ts";
import type { RecordStore } from "../../store/record_store.ts";
import type { OpenSharing } from "../../resource/share/open_sharing.ts";
import type { Database } from "../../store/database.ts";
import type { SharedMarks } from "../../store/shared_marks.ts";
import type { RequestObserver } from "../request_observer.ts";

/** Opens data sharing if some server has it; creates a missing database. */
export async function openDataSharing(
  { sharing, features }: ServiceConfig,
  {
    servers,
    sessions,
    attributes,
    throttle,
    database,
    marks,
    accountStatus,
    chain,
    observer,
    sinks,
    log,
    clock,
    keep,
    people,
  }: {
    readonly people: SharingParts["people"];
    readonly database: Database | undefined;
    readonly marks: SharedMarks | undefined;
    readonly servers: ReadonlyMap<string, ServerFacts>;
    readonly sessions: SharingParts["sessions"];
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
  const { servers: shared, directory, allowWriteAccess, maxLifetimeSeconds, maxPerUser } = sharing;
  const place = database ?? directory;
  if (shared.length === 0 || place === undefined || !(features.share || features.access)) return undefined;
  // Imported on use, as everything that only shares need.
  const { openSharing } = await import("../../resource/share/open_sharing.ts");
  return keep(openSharing({
    servers,
    place,
    sessions,
    marks,
    allowWriteAccess,
    maxLifetimeSeconds,
    maxPerUser,
    people,
    attributes,
    accountStatus,
    guess: ({ link, clientAddress, signal }, look) => {
      const authorization = { kind: "basic", user: `link ${link}`, password: new Secret("") } as const;
      return throttleLogin(throttle.admit({ clientAddress, authorization }, signal), look);
    },
    watch: watchOf(throttle),
    unauthenticated: (reason) => unauthenticated(chain, reason),
    transferred: (direction, bytes) => observer.transferred(direction, bytes),
    sinks,
    log,
    clock,
  }));
}

/** Opens the users' own files if the feature is enabled. @param sharing Has the locks of paths, if there are shares. */
export async function openOwnFiles(
  { features }: ServiceConfig,
  { servers, sessions, throttle, marks, anyRecords, observer, clock, sharing }: {
    readonly servers: ReadonlyMap<string, ServerFacts>;
    readonly sessions: SharingParts["sessions"];
    readonly throttle: LoginThrottle;
    readonly marks: SharedMarks | undefined;
    readonly anyRecords: () => RecordStore;
    readonly observer: RequestObserver;
    readonly clock: Clock;
    readonly sharing: OpenSharing | undefined;
  },
): Promise<DavParts | undefined> {
  if (!features.files) return undefined;
  const { DavLocks } = await import("../../resource/dav/dav_locks.ts");
  const { PathLocks } = await import("../../resource/share/path_locks.ts");
  const { UnreadAnswers } = await import("../../resource/long_text.ts");
  return {
    servers,
    sessions,
    locks: new DavLocks(anyRecords, clock),
    paths: sharing?.uploads.locks ?? new PathLocks(marks),
    watch: watchOf(throttle),
    unread: sharing?.unread ?? new UnreadAnswers(),
    transferred: (direction, bytes) => observer.transferred(direction, bytes),
    clock,
  };
}

function watchOf(throttle: LoginThrottle): SharingParts["watch"] {
  return ({ caller, clientAddress, user }, end) =>
    throttle.watch({ caller, clientAddress, accounts: accountsOf(user) }, end);
}
