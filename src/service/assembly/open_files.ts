import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { accountsOf } from "../../attributes/server_attributes.ts";
import { type AuthenticationChain, unauthenticated } from "../../authentication/chain.ts";
import type { AccountLookup } from "../../authentication/account_status.ts";
import type { Clock } from "../../model/clock.ts";
import { type LoginThrottle, throttleLogin } from "../../throttling/login_throttle.ts";
import type { DavParts } from "../../resource/dav/dav_call.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import type { Database } from "../../store/database.ts";
import type { RecordStore } from "../../store/record_store.ts";
import type { Leases } from "../../store/leases.ts";
import type { Recorder } from "../../notify/recorder.ts";
import type { RequestObserver } from "../request_observer.ts";
import type { Opening } from "./service_options.ts";

interface FilesParts {
  readonly database: Database | undefined;
  readonly cluster: { readonly leases: Leases } | undefined;
  readonly sharedClock: Clock;
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly attributes: AttributeSource;
  readonly accountStatus: AccountLookup;
  readonly throttle: LoginThrottle;
  readonly chain: AuthenticationChain;
  readonly anyRecords: () => RecordStore;
  readonly observer: RequestObserver;
  readonly people: SharingParts["people"];
  readonly notifications: { readonly recorder: Recorder } | undefined;
}

/** Opens the parts that need data sessions: data sharing, and the users' own files. */
export async function openFiles(
  opening: Opening,
  parts: FilesParts,
): Promise<{ readonly sharing: SharingParts | undefined; readonly files: DavParts | undefined }> {
  const { servers, attributes, accountStatus, throttle, observer, sharedClock: clock, database } = parts;
  const { config: { features, sharing: { servers: shared, directory } }, sinks, log, autoClose } = opening;
  const place = database ?? directory;
  const isShared = shared.length > 0 && place !== undefined && (features.share || features.access);
  if (!isShared && !features.files) return { sharing: undefined, files: undefined };
  const { openSharing } = await import("../../resource/share/open_sharing.ts");
  const sessions = await openSessions(opening, servers);
  const given = { place, attributes, accountStatus, sinks, log, clock, sessions };
  const [leases, recorder] = [parts.cluster?.leases, parts.notifications?.recorder];
  const common = {
    ...autoClose(openSharing({ ...given, leases, recorder })),
    servers,
    watch: ({ caller, clientAddress, user, signIn }, end) => {
      const unwatch = throttle.watch({ caller, clientAddress, accounts: accountsOf(user) }, end);
      // A browser whose download takes longer than the idle time is not idle.
      const active = signIn && setInterval(signIn.active, Math.min(signIn.idleMinutes, 60) * 20_000);
      return () => {
        clearInterval(active);
        unwatch();
      };
    },
    transferred: (direction, bytes) => observer.transferred(direction, bytes),
  } satisfies Partial<SharingParts>;
  const files = async () => {
    const { DavLocks } = await import("../../resource/dav/dav_locks.ts");
    return { ...common, locks: new DavLocks(parts.anyRecords, clock) };
  };
  return {
    sharing: isShared ? { ...common, ...termsOfSharing(opening, parts) } : undefined,
    files: features.files ? await files() : undefined,
  };
}

/** Returns clients for data sessions: on all servers if users may reach their own files, else on those with sharing. */
async function openSessions(
  { config: { features, sharing: { servers: shared, clientAddresses } }, autoClose }: Opening,
  servers: ReadonlyMap<string, ServerFacts>,
): Promise<SharingParts["sessions"]> {
  const { SessionClient } = await import("../../daemon/session/session_client.ts");
  const used = [...servers.values()].filter(({ name }) => features.files || shared.includes(name));
  return new Map(
    used.map(({ name, daemons }) => [name, autoClose(new SessionClient(daemons, { clientAddresses }))]),
  );
}

function termsOfSharing(
  { config: { sharing: { allowWriteAccess, maxLifetimeSeconds, maxPerUser } } }: Opening,
  { throttle, chain, people }: FilesParts,
) {
  return {
    ...{ people, allowWriteAccess, maxLifetimeSeconds, maxPerUser },
    guess: ({ link, clientAddress, signal }, look) =>
      throttleLogin(throttle.admitLink(link, clientAddress, signal), look),
    unauthenticated: (reason) => unauthenticated(chain, reason),
  } satisfies Partial<SharingParts>;
}
