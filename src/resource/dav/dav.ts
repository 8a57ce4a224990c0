import { attributesOnServer } from "../../attributes/server_attributes.ts";
import { type DatedEntry, type Files, find } from "../../files/files.ts";
import { isWritable } from "../../daemon/session/entry.ts";
import { parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { HttpError, httpError, invalidRequest } from "../../model/http_error.ts";
import { HeaderList, type HttpResponse } from "../../model/http_message.ts";
import { fileResponse, zoneOf } from "../access/download.ts";
import type { UseOfShare } from "../access/use_of_share.ts";
import { encodePath } from "../access/share_facts.ts";
import { allowsWriting } from "../access/validators.ts";
import type { Call } from "../call.ts";
import { longTextResponse } from "../long_text.ts";
import { checkLogin } from "../login_policy.ts";
import { ownFiles, type OwnFilesParts } from "../own_files.ts";
import type { ServerFacts } from "../server_facts.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { emptyResponse, textResponse } from "../text_response.ts";
import { checkTokenServer } from "../token_limits.ts";
import { type DavLocks, type LockUser, lockXml } from "./dav_locks.ts";
import {
  type DavResource,
  davValidators,
  multistatus,
  refusedProperties,
  type Wanted,
} from "./dav_properties.ts";
import { davRoot, type DavTarget, davTarget, destinationOf } from "./dav_target.ts";
import { childOf, type DavElement, isDav, readDavBody } from "./dav_xml.ts";
import { announcedDigest, verifyDigest, wantedDigest } from "./digests.ts";
import { type ConditionList, ifHolds, parseIf, shownTokens } from "./if_header.ts";

/** Dependencies of WebDAV. */
export interface DavParts
  extends OwnFilesParts, Pick<SharingParts, "watch" | "unread" | "transferred" | "clock"> {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly locks: DavLocks;
  readonly paths: SharingParts["uploads"]["locks"];
}

/** Request for a resource on a server. */
interface DavCall {
  readonly call: Call; // its signal ends with a ban
  readonly files: Files;
  readonly target: DavTarget;
  readonly user: LockUser;
  readonly lists: readonly ConditionList[]; // of the header `If`
  readonly begin: BeginContent;
  readonly parts: DavParts;
}

/** Conditions on the version of a file (RFC 9110, 13.1). */
const CONDITIONS = ["If-Match", "If-None-Match", "If-Unmodified-Since"];

const XML = "application/xml; charset=utf-8";

/** Methods of `/dav/<server>/<path>` (RFC 4918). */
const HANDLERS: Readonly<Record<string, (dav: DavCall) => Promise<HttpResponse>>> = {
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  MKCOL: makeCollection,
  GET: get,
  HEAD: get,
  PUT: put,
  DELETE: remove,
  COPY: copyOrMove,
  MOVE: copyOrMove,
  LOCK: lock,
  UNLOCK: unlock,
};

/** Serves `/dav/<server>/<path>` with the files of the caller's account. A ban ends what runs. */
export function davResource(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call, begin) => {
    const { request } = call;
    const lists = parseIf(request.headers.get("If"));
    const handler = HANDLERS[request.method] ?? get;
    return await handler({ call, ...await davPlace(call, parts), lists, begin, parts });
  });
}

/** Returns the files of the caller's account, and the one that the request names. @throws As `ownFiles()` and `davTarget()`. */
export async function davPlace(
  call: Call,
  parts: DavParts,
): Promise<Pick<DavCall, "files" | "target" | "user">> {
  const { server, params, caller } = call;
  const files = await ownFiles(call, parts);
  const target = await davTarget(call, params.get("server") ?? "", params.get("rest") ?? "", files.home);
  const owner = canonicalDn(caller.kind === "anonymous" ? "" : caller.identity.dn);
  const user = { owner, server: server?.name ?? "", uid: files.confine(target.path).user };
  call.audit({ path: target.path });
  return { files, target, user };
}

/** Begins to send the content of a file or archive; its end is told to `finish`. */
export type BeginContent = () => Promise<Pick<UseOfShare, "finish">>;

/** Runs a request that a ban ends, and content of which `begin` was called until its end. Counts the bytes of content. */
export async function untilBan(
  call: Call,
  { watch, transferred }: Pick<DavParts, "watch" | "transferred">,
  work: (call: Call, begin: BeginContent) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const ended = new AbortController();
  const unwatch = watch(call, (reason) => ended.abort(reason));
  let isContent = false;
  const begin: BeginContent = () => {
    isContent = true;
    const finish = ({ bytes }: { readonly bytes: number }) => {
      unwatch();
      transferred?.("download", bytes);
      return Promise.resolve();
    };
    return Promise.resolve({ finish });
  };
  try {
    const response = await work({ ...call, signal: AbortSignal.any([call.signal, ended.signal]) }, begin);
    if (!isContent) unwatch();
    return response;
  } catch (error) {
    unwatch();
    throw error;
  }
}

/** Returns the servers on which the caller has an account. */
export function ownServers(call: Call, servers: ReadonlyMap<string, ServerFacts>): ServerFacts[] {
  return [...servers.values()].filter((server) => {
    try {
      checkTokenServer(call, server.name);
      checkLogin(call, server);
      return attributesOnServer(call.user, server.name, { log: call.log }).uid !== "";
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return false;
    }
  });
}

/** Serves `PROPFIND /dav/`: the servers on which the caller has an account. */
export async function davServers(call: Call, { servers, clock, unread }: DavParts): Promise<HttpResponse> {
  const wanted = await wantedProperties(call);
  const depth = depthOf(call, ["0", "1"]);
  if (depth === undefined) return infiniteDepth();
  const root = davRoot(call.base);
  const at = (href: string, name: string): DavResource => ({
    href,
    path: name,
    kind: "directory",
    size: 0,
    locks: [],
  });
  const found = depth === "0"
    ? []
    : ownServers(call, servers).map(({ name }) => at(`${root}${encodeURIComponent(name)}`, `/${name}`));
  return await xmlResponse([at(root, "/"), ...found], wanted, { now: clock(), unread });
}

async function propfind(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target, parts, user } = dav;
  const wanted = await wantedProperties(call);
  const depth = depthOf(call, ["0", "1"]);
  if (depth === undefined) return infiniteDepth();
  using session = await files.open(target.path, call.signal);
  const entry = there(dav, await find(session, target.path));
  const locks = await parts.locks.at(user, target.path, { below: true });
  const shown = locks.map((lock) => ({ ...lock, root: hrefOfLock(call, lock.path) }));
  const resource = (href: string, path: string, entry: DatedEntry): DavResource => ({
    href,
    path,
    kind: entry.kind === "directory" ? "directory" : "file",
    size: entry.size,
    modified: entry.modified,
    modifiedAt: entry.modifiedAt,
    locks: shown.length === 0
      ? shown
      : shown.filter((lock) =>
        lock.path === path || (lock.deep && path.startsWith(`${withoutSlash(lock.path)}/`))
      ),
  });
  const found = [resource(target.href, target.path, entry)];
  if (entry.kind === "directory" && depth === "1") {
    const zone = zoneOf(entry);
    const { complete } = await session.list(target.path, (member) => {
      if (member.kind === "special") return;
      const dated = { ...member, modifiedAt: timeOf(member.modified, zone) };
      const href = `${withoutSlash(target.href)}/${encodeURIComponent(member.name)}`;
      found.push(resource(href, below(target.path, member.name), dated));
    });
    if (!complete) throw httpError("ERR_TREE_TOO_LARGE");
  }
  return await xmlResponse(found, wanted, { now: parts.clock(), unread: parts.unread });
}

/** Converts the daemon's local time. @param zone Its offset from UTC, in minutes. */
function timeOf(digits: string | undefined, zone: number | undefined): number | undefined {
  if (digits === undefined || zone === undefined) return undefined;
  const [year = 0, month = 1, ...rest] = (digits.match(/^\d{4}|\d{2}/g) ?? []).map(Number);
  return Date.UTC(year, month - 1, ...rest) - zone * 60_000;
}

async function xmlResponse(
  found: readonly DavResource[],
  wanted: Wanted,
  { now, unread }: { readonly now: number; readonly unread: DavParts["unread"] },
): Promise<HttpResponse> {
  const bytes = found.reduce((sum, { href }) => sum + 300 + 2 * href.length, 0);
  return await longTextResponse({ pieces: multistatus(found, wanted, now), type: XML, bytes }, unread, {
    status: 207,
  });
}

/** Unlike other clients, an unlimited `PROPFIND` could not be served within bounds (RFC 4918, 9.1). */
function infiniteDepth(): HttpResponse {
  const body =
    '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n';
  return textResponse(body, XML, { status: 403 });
}

/** Changing properties is refused: they would be lost when a file is moved by other means. */
async function proppatch(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target } = dav;
  const update = await readDavBody(call.request);
  if (update === undefined || !isDav(update, "propertyupdate")) throw wrongBody("propertyupdate");
  const names = update.children.filter((child) => isDav(child, "set") || isDav(child, "remove"))
    .flatMap((child) => childOf(child, "prop")?.children ?? []);
  await requireUnlocked(dav, [{ path: target.path }]);
  using session = await files.open(target.path, call.signal);
  const { kind } = there(dav, await find(session, target.path));
  const shown = { href: target.href, kind: kind === "directory" ? kind : "file" } as const;
  return textResponse(refusedProperties(shown, names), XML, { status: 207 });
}

async function makeCollection(dav: DavCall): Promise<HttpResponse> {
  const { call: { request, signal }, files, target: { path } } = dav;
  const length = request.headers.get("Content-Length") ??
    (request.headers.has("Transfer-Encoding") ? "" : "0");
  if (length !== "0") throw httpError("ERR_UNSUPPORTED_MEDIA_TYPE", { expected: "none, without a body" });
  if (path === "/") throw httpError("ERR_EXISTS");
  await requireUnlocked(dav, [{ path }, { path: withoutSlash(parentOf(path)) }]);
  await files.makeDirectory(path, signal);
  return emptyResponse({ status: 201 });
}

async function get(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path, wantsDirectory }, begin, parts } = dav;
  const session = await files.open(path, call.signal);
  try {
    const entry = await session.datedEntry(path);
    if (entry.kind !== "file") {
      throw notOfDirectories("OPTIONS, PROPFIND, PROPPATCH, MKCOL, DELETE, COPY, MOVE, LOCK, UNLOCK");
    }
    if (wantsDirectory) throw nothing("a file, named as a directory");
    const digest = await wantedDigest(session, path, entry.size, call.request.headers);
    const file = { size: entry.size, validators: davValidators(entry, parts.clock()) };
    const response = await fileResponse(call, path, file, { session, begin });
    if (digest !== undefined) response.headers.set("Repr-Digest", digest);
    return response;
  } catch (error) {
    session.close();
    throw error;
  }
}

async function put(dav: DavCall): Promise<HttpResponse> {
  const { call: { request, signal }, files, target: { path, wantsDirectory }, user, parts } = dav;
  const { headers } = request;
  if (headers.has("Content-Range")) throw invalidRequest("Content-Range: a file is written as a whole");
  if (wantsDirectory) {
    throw notOfDirectories("OPTIONS, PROPFIND, PROPPATCH, MKCOL, DELETE, COPY, MOVE, LOCK, UNLOCK");
  }
  const length = /^\d{1,15}$/.test(headers.get("Content-Length") ?? "")
    ? Number(headers.get("Content-Length"))
    : undefined;
  const announced = announcedDigest(headers);
  let total = 0;
  const stop = new AbortController();
  try {
    const replaced = await files.write(path, request.body, {
      length,
      signal: AbortSignal.any([signal, stop.signal]),
      check: async (existing) => {
        const parent = existing === undefined ? [{ path: withoutSlash(parentOf(path)) }] : [];
        await requireUnlocked(dav, [{ path }, ...parent]);
        const validators = existing && davValidators(existing, parts.clock());
        if (!allowsWriting(headers, validators)) throw httpError("ERR_PRECONDITION_FAILED");
      },
      verify: (session, part, size) => verifyDigest(session, part, size, announced),
      lock: ["If", ...CONDITIONS].some((name) => headers.has(name))
        ? (signal) => parts.paths.take(user.server, path, signal, (reason) => stop.abort(reason))
        : undefined,
      progress: (bytes) => total = bytes,
    });
    return emptyResponse({ status: replaced ? 204 : 201 });
  } finally {
    parts.transferred?.("upload", total);
  }
}

async function remove(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path }, user, parts } = dav;
  requireWhole(call);
  if (path === "/") throw httpError("ERR_OVERLAP");
  await requireVersion(dav);
  await requireUnlocked(dav, [{ path, below: true }, { path: withoutSlash(parentOf(path)) }]);
  await files.remove(path, call.signal);
  await parts.locks.forget(user, path);
  return emptyResponse({ status: 204 });
}

async function copyOrMove(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path: from }, user, parts } = dav;
  const isMove = call.request.method === "MOVE";
  if (isMove) requireWhole(call);
  const shallow = !isMove && depthOf(call, ["0", "infinity"]) === "0";
  const overwrite = call.request.headers.get("Overwrite")?.trim().toUpperCase() ?? "T";
  if (overwrite !== "T" && overwrite !== "F") throw invalidRequest("Overwrite: expected T or F");
  const { path: to } = await davTarget(call, user.server, destinationOf(call), files.home);
  await requireVersion(dav);
  const existed = await exists(dav, to);
  if (existed && overwrite === "F") throw httpError("ERR_PRECONDITION_FAILED");
  await requireUnlocked(dav, [
    ...(isMove ? [{ path: from, below: true }, { path: withoutSlash(parentOf(from)) }] : []),
    { path: to, below: true },
    ...(existed ? [] : [{ path: withoutSlash(parentOf(to)) }]),
  ]);
  if (isMove) {
    await files.move(from, to, call.signal);
    await parts.locks.forget(user, from);
  } else {
    await files.copy(from, to, { shallow, signal: call.signal });
  }
  return emptyResponse({ status: existed ? 204 : 201 });
}

async function lock(dav: DavCall): Promise<HttpResponse> {
  const { call, target: { path }, user, parts: { locks, paths }, lists } = dav;
  const { headers } = call.request;
  const timeout = headers.get("Timeout");
  const info = await readDavBody(call.request);
  const stop = new AbortController();
  const signal = AbortSignal.any([call.signal, stop.signal]);
  const release = await paths.take(user.server, "locks of WebDAV", signal, (reason) => stop.abort(reason));
  try {
    if (info !== undefined) return await newLock(dav, info, timeout);
    const shown = shownTokens(lists);
    const own = (await locks.at(user, path)).find(({ token, owner }) =>
      shown.has(token) && owner === user.owner
    );
    if (own === undefined) throw httpError("ERR_PRECONDITION_FAILED");
    return lockResponse(dav, await locks.refresh(own, timeout), 200);
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
  if (!await ifHolds(dav.lists, (resource) => stateOf(dav, resource))) {
    throw httpError("ERR_PRECONDITION_FAILED");
  }
  using session = await files.open(path, call.signal);
  const entry = await find(session, path);
  const { permission } = files.confine(path);
  const mayWrite = permission === "WRITE" || permission === "FULL";
  if (!mayWrite || (entry !== undefined && !isWritable(entry))) {
    throw httpError("ERR_ACCESS_REFUSED", "a lock of what the caller cannot write");
  }
  const directory = entry?.kind === "directory";
  const wanted = {
    path,
    directory,
    deep: deep && directory,
    shared,
    note: textOf(childOf(info, "owner")).slice(0, 500),
  };
  if (entry === undefined) await requireUnlocked(dav, [{ path: withoutSlash(parentOf(path)) }]);
  const made = await locks.make(user, wanted, timeout);
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
  return lockResponse(dav, made, entry === undefined ? 201 : 200, made.token);
}

function lockResponse(
  { call, parts: { clock } }: DavCall,
  lock: Awaited<ReturnType<DavLocks["make"]>>,
  status: number,
  token?: string,
): HttpResponse {
  const shown = lockXml({ ...lock, root: hrefOfLock(call, lock.path) }, clock());
  const body =
    `<?xml version="1.0" encoding="utf-8"?>\n<D:prop xmlns:D="DAV:"><D:lockdiscovery>${shown}</D:lockdiscovery></D:prop>\n`;
  return textResponse(body, XML, {
    status,
    headers: token === undefined ? {} : { "Lock-Token": `<${token}>` },
  });
}

async function unlock({ call, target: { path }, user, parts: { locks } }: DavCall): Promise<HttpResponse> {
  const shown = /^\s*<([^<>\s]+)>\s*$/.exec(call.request.headers.get("Lock-Token") ?? "")?.[1];
  if (shown === undefined) throw invalidRequest("Lock-Token: expected the token of a lock in angle brackets");
  const found = (await locks.at(user, path)).find(({ token }) => token === shown);
  if (found === undefined) throw httpError("ERR_NO_LOCK");
  if (found.owner !== user.owner) throw httpError("ERR_LOCKED");
  await locks.remove(found);
  return emptyResponse({ status: 204 });
}

/**
 * Checks the header `If`, and that the caller shows a token of each lock on paths that change.
 * @throws {ERR_PRECONDITION_FAILED | ERR_LOCKED}
 */
async function requireUnlocked(
  dav: DavCall,
  paths: readonly { readonly path: string; readonly below?: boolean }[],
): Promise<void> {
  const { lists, user, parts: { locks } } = dav;
  if (!await ifHolds(lists, (resource) => stateOf(dav, resource))) throw httpError("ERR_PRECONDITION_FAILED");
  const shown = shownTokens(lists);
  const isOpen = ({ token, owner }: { token: string; owner: string }) =>
    shown.has(token) && owner === user.owner;
  for (const { path, below } of paths) {
    const found = await locks.at(user, path, { below });
    const shared = found.filter(({ shared }) => shared);
    if (found.some((lock) => !lock.shared && !isOpen(lock)) || (shared.length > 0 && !shared.some(isOpen))) {
      throw httpError("ERR_LOCKED");
    }
  }
}

/** Returns lock tokens and entity tag of a resource of the header `If`; those of another server are unknown. */
async function stateOf(dav: DavCall, resource: string | undefined) {
  const { call, files, user, parts, target, lists } = dav;
  try {
    const path = resource === undefined ? target.path : (await davTarget(
      call,
      user.server,
      destinationOf({
        ...call,
        request: { ...call.request, headers: HeaderList.of({ Destination: resource }) },
      }),
      files.home,
    )).path;
    const tokens = (await parts.locks.at(user, path)).map(({ token }) => token);
    if (!lists.some(({ conditions }) => conditions.some(({ etag }) => etag !== undefined))) {
      return { tokens, etag: undefined };
    }
    using session = await files.open(path, call.signal);
    const entry = await find(session, path);
    return { tokens, etag: entry?.kind === "file" ? davValidators(entry, parts.clock()).etag : undefined };
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500 && error.code !== "ERR_OTHER_SERVER") {
      throw error;
    }
    return { tokens: [], etag: undefined };
  }
}

/** Checks the conditions of a request that deletes, moves or copies its target. @throws {ERR_PRECONDITION_FAILED} */
async function requireVersion({ call, files, target: { path }, parts }: DavCall): Promise<void> {
  const { headers } = call.request;
  if (!CONDITIONS.some((name) => headers.has(name))) return;
  using session = await files.open(path, call.signal);
  const entry = await find(session, path);
  const validators = entry?.kind === "file" ? davValidators(entry, parts.clock()) : undefined;
  if (!allowsWriting(headers, validators)) throw httpError("ERR_PRECONDITION_FAILED");
}

async function exists({ call, files }: DavCall, path: string): Promise<boolean> {
  using session = await files.open(path, call.signal);
  return await find(session, path) !== undefined;
}

function there({ target }: DavCall, entry: DatedEntry | undefined): DatedEntry {
  const isRight = entry !== undefined && entry.kind !== "special" &&
    (entry.kind === "directory" || !target.wantsDirectory);
  if (!isRight) throw nothing("neither file nor directory as asked for");
  return entry;
}

function nothing(reason: string): Error {
  return httpError("ERR_NOT_FOUND", { where: "of this name here", reason });
}

/** Returns the header `Depth`; undefined if it has another value, or is missing. */
function depthOf({ request }: Pick<Call, "request">, known: readonly string[]): string | undefined {
  const depth = request.headers.get("Depth")?.trim().toLowerCase() ?? "infinity";
  if (!["0", "1", "infinity"].includes(depth)) throw invalidRequest("Depth: expected 0, 1 or infinity");
  return known.find((each) => each === depth);
}

/** Directories are deleted and moved as a whole (RFC 4918, 9.6.1 and 9.9.2). */
function requireWhole(call: Call): void {
  if (depthOf(call, ["infinity"]) === undefined) throw invalidRequest("Depth: expected infinity");
}

async function wantedProperties({ request }: Call): Promise<Wanted> {
  const body = await readDavBody(request);
  if (body === undefined) return { names: undefined, valuesToo: true };
  if (!isDav(body, "propfind")) throw wrongBody("propfind");
  const prop = childOf(body, "prop");
  if (prop !== undefined) return { names: prop.children, valuesToo: true };
  if (childOf(body, "propname") !== undefined) return { names: undefined, valuesToo: false };
  if (childOf(body, "allprop") === undefined) throw wrongBody("propfind");
  return { names: undefined, valuesToo: true };
}

function wrongBody(element: string): Error {
  return invalidRequest(`The request body must be a valid ${element} element of the namespace DAV:`);
}

function textOf(element: DavElement | undefined): string {
  return element === undefined
    ? ""
    : [element.text, ...element.children.map(textOf)].filter((text) => text !== "").join(" ");
}

function hrefOfLock({ base, params }: Pick<Call, "base" | "params">, path: string): string {
  return `${davRoot(base)}${encodeURIComponent(params.get("server") ?? "")}${encodePath(path)}`;
}

function below(directory: string, name: string): string {
  return `${directory === "/" ? "" : directory}/${name}`;
}

function notOfDirectories(allowed: string): Error {
  return httpError("ERR_METHOD_NOT_ALLOWED", { allowed });
}
