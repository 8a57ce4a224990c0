import { isWritable } from "../../daemon/session/entry.ts";
import { type DatedEntry, find } from "../../files/files.ts";
import { parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { HttpError, httpError, invalidRequest } from "../../model/http_error.ts";
import { HeaderList, type HttpResponse } from "../../model/http_message.ts";
import { encodePath } from "../access/share_facts.ts";
import type { Call } from "../call.ts";
import { emptyResponse, textResponse } from "../text_response.ts";
import { type DavCall, depthOf, wrongBody, XML } from "./dav_call.ts";
import { covers, type DavLock, isBelow, lockXml } from "./dav_locks.ts";
import { davValidators } from "./dav_properties.ts";
import { davRoot, davTarget, destinationOf } from "./dav_target.ts";
import { childOf, type DavElement, isDav, readDavBody } from "./dav_xml.ts";
import { ifHolds, shownTokens } from "./if_header.ts";

/** Serves `LOCK`: creates a lock, or refreshes one if the request has no body. */
export async function lock(dav: DavCall): Promise<HttpResponse> {
  const { call, target: { path }, user, parts: { locks }, lists } = dav;
  const timeout = call.request.headers.get("Timeout");
  const info = await readDavBody(call.request);
  if (info !== undefined) return await newLock(dav, info, timeout);
  const shown = shownTokens(lists);
  const extended = await runExclusive(dav, async () => {
    const found = await locks.at(user, path);
    const own = found.find(({ token, owner }) => shown.has(token) && owner === user.owner);
    if (own === undefined) throw httpError("ERR_PRECONDITION_FAILED");
    requireWriter(dav, own.path);
    return await locks.refresh(own, timeout);
  });
  return lockResponse(dav, extended, 200);
}

/** Runs one change to the locks of a server at a time. Others wait meanwhile, so a change must not wait for a daemon. */
async function runExclusive<T>({ call, user, parts }: DavCall, change: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => {}); // may reject before anybody waits for it
  const release = await parts.uploads.locks.take(user.server, "locks of WebDAV", call.signal, reject);
  try {
    return await Promise.race([change(), late]);
  } finally {
    release();
  }
}

async function newLock(dav: DavCall, info: DavElement, timeout: string | null): Promise<HttpResponse> {
  const { call, files, target: { path }, user, parts: { locks, clock } } = dav;
  const scope = childOf(info, "lockscope");
  const shared = childOf(scope, "shared") !== undefined;
  const isWriteLock = childOf(childOf(info, "locktype"), "write") !== undefined;
  if (!isDav(info, "lockinfo") || !isWriteLock || shared === (childOf(scope, "exclusive") !== undefined)) {
    throw wrongBody("lockinfo");
  }
  const deep = depthOf(call, ["0", "infinity"]) !== "0";
  requireWriter(dav, path);
  const entry = await writableEntry(dav);
  const directory = entry?.kind === "directory";
  const note = textOf(childOf(info, "owner")).slice(0, 500);
  await requireUnlocked(dav, entry === undefined ? [{ path: withoutSlash(parentOf(path)) }] : []);
  const wanted = { path, directory, deep: deep && directory, shared, note };
  const made = await runExclusive(dav, () => locks.make(user, wanted, timeout));
  try {
    if (entry === undefined) {
      const check = (existing?: unknown) => {
        if (existing !== undefined) throw httpError("ERR_PRECONDITION_FAILED");
      };
      await files.write(path, null, { length: 0, signal: call.signal, check });
    }
  } catch (error) {
    await locks.remove(made);
    throw error;
  }
  call.log.debug("locked", { path, until: made.ends, at: clock() });
  return lockResponse(dav, made, entry === undefined ? 201 : 200, { "Lock-Token": `<${made.token}>` });
}

/** Checks that the caller's login or token may write, hence change locks on a path. @throws {ERR_ACCESS_REFUSED} And as `confine`. */
function requireWriter({ files }: Pick<DavCall, "files">, path: string): void {
  const { permission } = files.confine(path);
  if (permission !== "WRITE" && permission !== "FULL") {
    throw httpError("ERR_ACCESS_REFUSED", "a lock of what the caller cannot write");
  }
}

/** Returns what is to be locked, if it exists. @throws If the account can neither write nor create it. */
async function writableEntry({ call, files, target: { path } }: DavCall): Promise<DatedEntry | undefined> {
  using session = await files.open(path, call.signal);
  const entry = await find(session, path);
  const place = entry ?? (session.reaches(parentOf(path)) ? await find(session, parentOf(path)) : "unknown");
  if (place === undefined) throw httpError("ERR_NO_DIRECTORY", "of a new entry");
  if (place !== "unknown" && !isWritable(place)) throw httpError("ERR_ACCESS_REFUSED", "not writable");
  return entry;
}

function lockResponse(
  { call, parts: { clock } }: DavCall,
  lock: DavLock,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const shown = lockXml({ ...lock, root: hrefOfLock(call, lock.path) }, clock());
  const body =
    `<?xml version="1.0" encoding="utf-8"?>\n<D:prop xmlns:D="DAV:"><D:lockdiscovery>${shown}</D:lockdiscovery></D:prop>\n`;
  return textResponse(body, XML, { status, headers });
}

/** Returns the address of a locked resource. */
export function hrefOfLock({ base, params }: Pick<Call, "base" | "params">, path: string): string {
  return `${davRoot(base)}${encodeURIComponent(params.get("server") ?? "")}${encodePath(path)}`;
}

function textOf(element: DavElement | undefined): string {
  if (element === undefined) return "";
  return [element.text, ...element.children.map(textOf)].filter((text) => text !== "").join(" ");
}

/** Serves `UNLOCK`. @throws {ERR_NO_LOCK | ERR_LOCKED | ERR_ACCESS_REFUSED} */
export async function unlock(dav: DavCall): Promise<HttpResponse> {
  const { call, target: { path }, user, parts: { locks } } = dav;
  // Some clients, such as npm webdav, omit the brackets of RFC 4918, 10.5.
  const shown = /^\s*(?=\S)<?([^<>\s]+)>?\s*$/.exec(call.request.headers.get("Lock-Token") ?? "")?.[1];
  if (shown === undefined) throw invalidRequest("Lock-Token: expected the token of a lock in angle brackets");
  const found = (await locks.at(user, path)).find(({ token }) => token === shown);
  if (found === undefined) throw httpError("ERR_NO_LOCK");
  if (found.owner !== user.owner) throw httpError("ERR_LOCKED");
  requireWriter(dav, found.path);
  await locks.remove(found);
  return emptyResponse({ status: 204 });
}

/**
 * Checks the header `If`, and the tokens of locks on paths that change.
 * @returns Whether the caller's lock keeps all others from writing one of these files.
 * @throws {ERR_PRECONDITION_FAILED | ERR_LOCKED}
 */
export async function requireUnlocked(
  dav: DavCall,
  paths: readonly { readonly path: string; readonly below?: boolean }[],
): Promise<boolean> {
  const { lists, user, parts: { locks } } = dav;
  if (!await ifHolds(lists, (resource) => stateOf(dav, resource))) throw httpError("ERR_PRECONDITION_FAILED");
  const shown = shownTokens(lists);
  const isOpen = ({ token, owner }: DavLock) => shown.has(token) && owner === user.owner;
  let isOurs = false;
  for (const { path, below } of paths) {
    const found = await locks.at(user, path, { below });
    const open = found.filter(isOpen);
    const isFree = (lock: DavLock) => { // any of the shared locks of a file or directory opens it
      const place = isBelow(lock.path, path) ? lock.path : path;
      return open.includes(lock) || (lock.shared && open.some((own) => covers(own, place)));
    };
    if (!found.every(isFree)) throw httpError("ERR_LOCKED");
    isOurs ||= found.some(({ shared, directory }) => !shared && !directory);
  }
  return isOurs;
}

/** Returns a file or directory of the caller, if it exists. */
export async function entryAt({ call, files }: DavCall, path: string): Promise<DatedEntry | undefined> {
  using session = await files.open(path, call.signal);
  return await find(session, path);
}

/** Returns lock tokens and entity tag of a resource of the header `If`; those of another server are unknown. */
async function stateOf(dav: DavCall, resource: string | undefined) {
  const { call, files, user, parts, target, lists } = dav;
  try {
    let { path } = target;
    if (resource !== undefined) {
      const request = { ...call.request, headers: HeaderList.of({ Destination: resource }) };
      ({ path } = await davTarget(call, user.server, destinationOf({ ...call, request }), files.home));
    }
    const tokens = (await parts.locks.at(user, path)).map(({ token }) => token);
    if (!lists.some(({ conditions }) => conditions.some(({ etag }) => etag !== undefined))) {
      return { tokens, etag: undefined };
    }
    const entry = await entryAt(dav, path);
    return { tokens, etag: entry?.kind === "file" ? davValidators(entry, parts.clock()).etag : undefined };
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500 && error.code !== "ERR_OTHER_SERVER") {
      throw error;
    }
    return { tokens: [], etag: undefined };
  }
}
