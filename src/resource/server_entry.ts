import { attributesOnServer } from "../attributes/server_attributes.ts";
import type { UserAttributes } from "../attributes/user_attributes.ts";
import type { Logger } from "../logging/logger.ts";
import { HttpError } from "../model/http_error.ts";
import { includesServer, type TokenRestrictions } from "../model/token_restrictions.ts";
import { lowestLimit } from "./rate_limit.ts";
import { type ServerFacts, statusText } from "./server_facts.ts";

/** Logical server in `GET /rest/auth` (specification 2.2, rest-api.md 1.9). */
export interface ServerEntry {
  readonly href: string;
  readonly description: string;
  readonly status: string;
  readonly uftpdServerVersion?: string;
  readonly sessionLimit?: number;
  readonly uid?: string;
  readonly gid?: string;
  readonly availableGroups?: readonly string[];
  readonly rateLimit?: number; // bytes per second; absent if unlimited
  readonly allowed?: string;
  readonly forbidden?: string;
  readonly reservations: readonly string[];
  /** Known reason why the caller cannot use the server. */
  readonly refusal?: { readonly code: string; readonly reason: string };
  readonly dataSharing: { readonly enabled: boolean; readonly href?: string };
}

/** Recipient of an entry. */
export interface EntryAudience {
  readonly base: string; // without trailing slash
  /** Absent for anonymous callers, who see less (design decision "Anonymous"). */
  readonly user: UserAttributes | undefined;
  readonly bounds: TokenRestrictions;
  readonly missing: (server: ServerFacts) => string | undefined; // returns what the login lacks for a server
  readonly log: Logger;
}

/** Returns the entry of one server for one caller. */
export function serverEntry(
  server: ServerFacts,
  { base, user, bounds, missing, log }: EntryAudience,
): ServerEntry {
  const status = server.daemons.status();
  const sharing = server.sharing
    ? { enabled: true, href: `${base}/rest/share/${server.name}` }
    : { enabled: false };
  const common = {
    href: `${base}/rest/auth/${server.name}`,
    description: server.description,
    status: statusText(status, user !== undefined),
    dataSharing: sharing,
  };
  if (user === undefined) return { ...common, reservations: [] };
  const needed = missing(server);
  const isTheirs = needed === undefined && includesServer(bounds, server.name);
  return {
    ...common,
    refusal: needed === undefined ? undefined : { code: "ERR_STRONGER_LOGIN_NEEDED", reason: needed },
    uftpdServerVersion: status.version ?? "n/a",
    sessionLimit: status.sessionLimit,
    ...(isTheirs ? userFacts(server, user, log) : { reservations: [] }),
  };
}

type UserFacts = Pick<
  ServerEntry,
  "uid" | "gid" | "availableGroups" | "rateLimit" | "allowed" | "forbidden" | "reservations"
>;

/** Empty if the user's attributes are unusable. */
function userFacts(server: ServerFacts, user: UserAttributes, log: Logger): UserFacts {
  let account;
  try {
    account = attributesOnServer(user, server.name, { log });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status >= 500) log.warn("attributes of a user not usable", { server: server.name, error });
    return { reservations: [] };
  }
  const { uid, gid, availableGroups, includes, excludes } = account;
  const rateLimit = lowestLimit(account.rateLimit, server.reservations.limitFor(uid));
  return {
    uid,
    gid,
    availableGroups,
    ...(rateLimit > 0 && { rateLimit }),
    allowed: includes,
    forbidden: excludes,
    reservations: server.reservations.descriptionsFor(uid),
  };
}
