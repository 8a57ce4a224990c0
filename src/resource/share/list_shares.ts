import { EVERYBODY, isShareId, type Share } from "../../sharing/share.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { httpError, invalidRequest } from "../../model/http_error.ts";
import { longTextResponse } from "../long_text.ts";
import { statusText } from "../server_facts.ts";
import { jsonResponse } from "../text_response.ts";
import { tokenCoversShare } from "../token_limits.ts";
import { accountOn, callerName, nameOnServer, targetsOnServer } from "./names.ts";
import { ownersView, targetsView, useView } from "./share_json.ts";
import { ownShare, sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Shares in one answer. */
export const MAX_SHARES = 5000;

const AT_A_TIME = 200;

/** Serves `GET /rest/share`: the servers with sharing. */
export function listSharedServers(call: Call, { servers, sessions }: SharingParts): HttpResponse {
  const entries: Record<string, unknown> = {};
  for (const { name, description, sharing, daemons } of servers.values()) {
    if (!sharing || !sessions.has(name)) continue;
    entries[name] = {
      href: `${call.base}/rest/share/${name}`,
      description,
      status: statusText(daemons.status(), call.caller.kind !== "anonymous"),
    };
  }
  return jsonResponse({ ...entries, userInfo: userInfo(call, Object.keys(entries)) }, { indent: 2 });
}

const LISTS = ["shares", "accessible"] as const;

/** Start of an answer: after this share of this list. */
interface Start {
  readonly list: typeof LISTS[number];
  readonly after?: Pick<Share, "created" | "id">;
}

/** Serves `GET /rest/share/<server>`: the caller's shares, and shares for the caller, in parts that each name the next. */
export async function listShares(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name, facts } = sharedServer(call, parts);
  // Shares for everybody are known by their link only (D12).
  const caller = nameOnServer(call, name);
  const start = parseStart(call.query.get("after"));
  const status = statusText(facts.daemons.status(), call.caller.kind !== "anonymous");
  const { outage } = call.user;
  const incomplete = outage && { code: outage.code, reason: outage.publicMessage };
  const rest = { status, userInfo: userInfo(call, [name]), incomplete };
  const pieces = answer(call, { server: name, caller, start, rest }, parts);
  return await longTextResponse({ pieces, type: "application/json", bytes: 0 }, parts.unread);
}

async function* answer(
  call: Call,
  { server, caller, start, rest }: {
    readonly server: string;
    readonly caller: string;
    readonly start: Start;
    readonly rest: Readonly<Record<string, unknown>>;
  },
  { store, clock }: SharingParts,
): AsyncGenerator<string, void> {
  const targets = targetsOnServer(call, server);
  let left = MAX_SHARES;
  let next: Start | undefined;
  for (const list of LISTS) {
    yield `${list === "shares" ? "{" : "],"}"${list}":[`;
    if (caller === EVERYBODY || next !== undefined || LISTS.indexOf(list) < LISTS.indexOf(start.list)) {
      continue;
    }
    let after = list === start.list ? start.after : undefined;
    for (let comma = "";;) {
      const most = Math.min(AT_A_TIME, left);
      // One extra shows that another part follows.
      const part = { most: most + 1, after };
      const read = list === "shares"
        ? await store.ownedBy(server, caller, part)
        : await store.targetedAt(server, targets, part);
      const shares = read.slice(0, most);
      const shown = shares.filter((share) => tokenCoversShare(call, share));
      const view = (share: Share) =>
        list === "shares" ? ownersView(share, call.base, clock()) : targetsView(share, call.base, clock());
      for (const share of shown) {
        yield comma + JSON.stringify(view(share));
        comma = ",";
      }
      left -= shares.length;
      after = shares.at(-1) ?? after;
      if (read.length <= most) break;
      if (left === 0) {
        next = { list, after };
        break;
      }
    }
  }
  const place = next?.after && `.${next.after.created}.${next.after.id}`;
  const link = next && { next: `${call.base}/rest/share/${server}?after=${next.list}${place ?? ""}` };
  yield `],${JSON.stringify({ ...rest, ...link }).slice(1)}`;
}

function parseStart(text: string | null): Start {
  const [wanted = "shares", created = "", id = "", ...more] = text?.split(".", 4) ?? [];
  const list = LISTS.find((known) => known === wanted);
  const isPlace = /^\d{1,15}$/.test(created) && isShareId(id) && more.length === 0;
  if (list === undefined || (text?.includes(".") === true && !isPlace)) {
    throw invalidRequest("after: expected the value in the link to the next page");
  }
  return isPlace ? { list, after: { created: Number(created), id } } : { list };
}

/** Uses the last server with an account: the Java service overwrites it per server (rest-api.md 1.12). */
function userInfo(call: Call, servers: readonly string[]) {
  const dn = callerName(call.caller);
  const known = servers.map((server) => accountOn(call, server)).findLast((account) => account !== undefined);
  if (known === undefined) return { dn };
  const { uid, gid, availableGroups } = known;
  return { uid, gid, groups: availableGroups, dn };
}

const SHOWN_USES = 100;

/** Serves `GET /rest/share/<server>/<id>`: a share of the caller with its uses, even if it is used up. */
export async function readShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name, facts } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  const uses = await parts.store.usesOf(name, share.id, SHOWN_USES);
  return jsonResponse({
    share: { ...ownersView(share, call.base, parts.clock()), uses: uses.map(useView) },
    owner: share.owner,
    status: statusText(facts.daemons.status(), call.caller.kind !== "anonymous"),
    userInfo: userInfo(call, [name]),
  });
}
