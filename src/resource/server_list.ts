import { ANONYMOUS_DN } from "../model/identity.ts";
import type { Call } from "./call.ts";
import { UnknownServer } from "./request_errors.ts";
import { parseServerAddress } from "./server_address.ts";
import { type EntryAudience, serverEntry } from "./server_entry.ts";
import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse, type WholeResponse } from "./text_response.ts";

/** What `GET /rest/auth` says about the service itself. */
export interface ServiceFacts {
  readonly siteName: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly upSince: number;
  /** Own certificate; absent without one. */
  readonly credential: () =>
    | { readonly dn: string; readonly issuer: string; readonly expires: number }
    | undefined;
  /** Subjects of the trust anchors. */
  readonly trustedCAs: () => readonly string[];
  readonly trustedSAMLIssuers: () => readonly string[];
  /** Name of a connection to its state: `OK`, `DOWN`, `UNKNOWN` or `NOT_APPLICABLE`. */
  readonly externalConnections: () => Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** `GET /rest/auth`: all logical servers and what the caller may do on each (rest-api.md 1.9). */
export function serverList(
  call: Call,
  servers: ReadonlyMap<string, ServerFacts>,
  service: ServiceFacts,
): WholeResponse {
  const audience = entryAudience(call);
  const entries = Object.fromEntries(
    [...servers.values()].map((server) => [server.name, serverEntry(server, audience)]),
  );
  return jsonResponse({ ...entries, client: client(call), server: about(call, service) }, { indent: 2 });
}

/** `GET /rest/auth/<server>`: the one entry of the list. */
export function serverDetail(call: Call, servers: ReadonlyMap<string, ServerFacts>): WholeResponse {
  const { name, instance } = parseServerAddress(call.params.get("server") ?? "");
  const server = servers.get(name);
  if (server === undefined) throw new UnknownServer();
  if (instance !== undefined && (instance < 1 || instance > server.daemons.size)) throw new UnknownServer();
  return jsonResponse(serverEntry(server, entryAudience(call)), { indent: 2 });
}

/** What an entry shows depends on its reader. */
export function entryAudience({ base, caller, user, log }: Call): EntryAudience {
  return { base, user: caller.kind === "anonymous" ? undefined : user, log };
}

function client({ caller, user }: Call) {
  if (caller.kind === "anonymous") return { dn: ANONYMOUS_DN, xlogin: {}, role: { selected: "anonymous" } };
  const { uid, availableUids, group, availableGroups, supplementaryGroups, role, availableRoles } = user;
  const xlogin = uid === undefined ? {} : {
    UID: uid,
    availableUIDs: availableUids,
    ...(group !== undefined && { group }),
    availableGroups,
    ...(supplementaryGroups.length > 0 && { selectedSupplementaryGroups: supplementaryGroups }),
  };
  return {
    dn: caller.identity.dn,
    xlogin,
    role: { selected: role, availableRoles },
    authenticationMethod: caller.identity.method,
  };
}

/** Callers that nobody knows learn the site's name and the time, and no more. */
function about({ caller }: Call, service: ServiceFacts) {
  const { siteName, version, upSince, now } = service;
  if (caller.kind === "anonymous") return { siteName, currentTime: timestamp(now()) };
  const credential = service.credential();
  return {
    siteName,
    version,
    upSince: timestamp(upSince),
    currentTime: timestamp(now()),
    ...(credential && { credential: { ...credential, expires: timestamp(credential.expires) } }),
    trustedCAs: service.trustedCAs(),
    trustedSAMLIssuers: service.trustedSAMLIssuers(),
    externalConnections: service.externalConnections(),
  };
}

/** The last few timestamps made: most requests of a second ask for the same ones. */
const MADE = new Map<number, string>();
const MOST_MADE = 16;

/** `2026-01-05T09:15:00+0100`: local time, offset without colon. */
export function timestamp(at: number): string {
  const second = Math.floor(at / 1000);
  const known = MADE.get(second);
  if (known !== undefined) return known;
  const text = formatTimestamp(second * 1000);
  if (MADE.size >= MOST_MADE) MADE.clear();
  MADE.set(second, text);
  return text;
}

function formatTimestamp(at: number): string {
  const offset = -new Date(at).getTimezoneOffset();
  const local = new Date(at + offset * 60_000).toISOString().slice(0, 19);
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.abs(offset) / 60)}${two(Math.abs(offset) % 60)}`;
}
