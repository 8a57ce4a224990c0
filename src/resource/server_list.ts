import type { HttpResponse } from "../model/http_message.ts";
import { ANONYMOUS_DN, restrictionsOf } from "../model/identity.ts";
import type { Call } from "./call.ts";
import { existingServer, lowestLimit, type ServerFacts, statusText } from "./server_facts.ts";
import type { ServiceSection } from "./service_section.ts";
import { jsonResponse, textResponse } from "./text_response.ts";
import { attributesOnServer, type ServerAttributes } from "../attributes/server_attributes.ts";
import { attempt } from "../model/attempt.ts";
import { HttpError } from "../model/http_error.ts";
import { includesServer } from "../model/token_restrictions.ts";

/** Serves `GET /rest/auth`: all servers with the caller's rights (rest-api.md 1.9). */
export function serverList(
  call: Call,
  servers: ReadonlyMap<string, ServerFacts>,
  service: ServiceSection,
): HttpResponse {
  const entries = Object.fromEntries(
    [...servers.values()].map((server) => [server.name, serverEntry(server, call)]),
  );
  const begin = JSON.stringify({ ...entries, client: client(call) }, undefined, 2).slice(0, -"\n}".length);
  return textResponse(`${begin},\n  "server": ${service.textFor(call.caller)}\n}`, "application/json");
}

/** Serves `GET /rest/auth/<server>`. */
export function serverDetail(call: Call): HttpResponse {
  return jsonResponse(serverEntry(existingServer(call.server).facts, call), { indent: 2 });
}

function client({ caller, user }: Call) {
  if (caller.kind === "anonymous") return { dn: ANONYMOUS_DN, xlogin: {}, role: { selected: "anonymous" } };
  const { uid, availableUids, group, availableGroups, supplementaryGroups, role, availableRoles } = user;
  const xlogin = uid === undefined ? {} : {
    UID: uid,
    availableUIDs: availableUids,
    group,
    availableGroups,
    selectedSupplementaryGroups: supplementaryGroups.length > 0 ? supplementaryGroups : undefined,
  };
  return {
    dn: caller.identity.dn,
    xlogin,
    role: { selected: role, availableRoles },
    authenticationMethod: caller.identity.method,
    capabilities: caller.identity.capabilities,
  };
}

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

/** Returns the entry of one server for its caller; anonymous callers see less (design decision "Anonymous"). */
export function serverEntry(server: ServerFacts, call: Call): ServerEntry {
  const { base, caller, clientAddress } = call;
  const status = server.daemons.status();
  const common = {
    href: `${base}/rest/auth/${server.name}`,
    description: server.description,
    status: statusText(status, caller.kind !== "anonymous"),
    dataSharing: server.sharing
      ? { enabled: true, href: `${base}/rest/share/${server.name}` }
      : { enabled: false },
  };
  if (caller.kind === "anonymous") return { ...common, reservations: [] };
  const needed = server.logins?.missing(caller, [clientAddress]);
  const isTheirs = needed === undefined && includesServer(restrictionsOf(caller), server.name);
  const [account, outage] = isTheirs ? accountOn(server, call) : [];
  const limit = account && lowestLimit(account.rateLimit, server.reservations.limitFor(account.uid));
  return {
    ...common,
    refusal: needed === undefined
      ? outage && { code: outage.code, reason: outage.publicMessage }
      : { code: "ERR_STRONGER_LOGIN_NEEDED", reason: needed },
    uftpdServerVersion: status.version ?? "n/a",
    sessionLimit: status.sessionLimit,
    uid: account?.uid,
    gid: account?.gid,
    availableGroups: account?.availableGroups,
    rateLimit: limit === 0 ? undefined : limit,
    allowed: account?.includes,
    forbidden: account?.excludes,
    reservations: account === undefined ? [] : server.reservations.descriptionsFor(account.uid),
  };
}

/** Returns nothing if the user's attributes are unusable; or an outage that leaves the account unknown. */
function accountOn({ name }: ServerFacts, { user, log }: Call): readonly [ServerAttributes?, HttpError?] {
  return attempt(() => [attributesOnServer(user, name, { log })], HttpError, (error) => {
    if (error.status >= 500) log.warn("attributes of a user not usable", { server: name, error });
    return error === user.outage ? [undefined, error] : [];
  });
}
