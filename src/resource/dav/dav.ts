import { nothingThere } from "../../daemon/session/session_errors.ts";
import { attributesOnServer } from "../../attributes/server_attributes.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { type DatedEntry, find } from "../../files/files.ts";
import { parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { attempt, onError } from "../../model/attempt.ts";
import { HttpError, httpError, invalidRequest } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { fileResponse, zoneOf } from "../access/download.ts";
import { contentLength } from "../access/drop/upload_range.ts";
import { allowsWriting } from "../access/validators.ts";
import type { Call } from "../call.ts";
import { longTextResponse } from "../long_text.ts";
import { checkLogin } from "../login_policy.ts";
import type { ServerFacts } from "../server_facts.ts";
import { emptyResponse, textResponse } from "../text_response.ts";
import { checkTokenServer } from "../token_limits.ts";
import {
  type DavCall,
  type DavParts,
  davPlace,
  depthOf,
  rootStays,
  untilBan,
  wrongBody,
  XML,
} from "./dav_call.ts";
import { entryAt, hrefOfLock, lock, requireUnlocked, unlock } from "./dav_lock_methods.ts";
import { covers } from "./dav_locks.ts";
import {
  type DavResource,
  davValidators,
  multistatus,
  refusedProperties,
  type Wanted,
} from "./dav_properties.ts";
import { davRoot, davTarget, destinationOf } from "./dav_target.ts";
import { childOf, isDav, readDavBody } from "./dav_xml.ts";
import { announcedDigest, reprDigest, verifyDigest, wantedAlgorithm } from "./digests.ts";
import { parseIf } from "./if_header.ts";

/** Conditions on the version of a file (RFC 9110, 13.1). */
const CONDITIONS = ["If-Match", "If-None-Match", "If-Unmodified-Since"];

/** `Depth` of methods that delete or move directories as a whole (RFC 4918, 9.6.1 and 9.9.2). */
const WHOLE = ["infinity"] as const;

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

/** Serves `/dav/<server>/<path>` with the files of the caller's account. A ban ends running requests. */
export function davResource(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call, begin) => {
    const { request } = call;
    const lists = parseIf(request.headers.get("If"));
    return await (HANDLERS[request.method] ?? get)({
      call,
      ...await davPlace(call, parts),
      lists,
      begin,
      parts,
    });
  });
}

/** Returns why the caller has no files on a server, if so. */
export function refusalOn(call: Call, server: ServerFacts): HttpError | undefined {
  const check = () => {
    checkTokenServer(call, server.name);
    checkLogin(call, server);
    attributesOnServer(call.user, server.name, { log: call.log });
    return undefined;
  };
  return attempt(check, HttpError, (error) => error);
}

/** Serves `PROPFIND /dav/`: the servers on which the caller has an account, or might without an outage. */
export async function davServers(call: Call, parts: DavParts): Promise<HttpResponse> {
  const wanted = await wantedProperties(call);
  const depth = depthOf(call, ["0", "1", "infinity"]);
  if (depth === "infinity") return infiniteDepth();
  const root = davRoot(call.base);
  const own = [...parts.servers.values()].filter((server) =>
    [undefined, call.user.outage].includes(refusalOn(call, server))
  );
  const names = depth === "0" ? [] : own.map(({ name }) => name);
  const found = ["", ...names].map((name): DavResource => ({
    href: `${root}${encodeURIComponent(name)}`,
    path: `/${name}`,
    kind: "directory",
    size: 0,
    locks: [],
  }));
  return await xmlResponse(found, wanted, parts);
}

async function propfind(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target, parts, user } = dav;
  const wanted = await wantedProperties(call);
  const depth = depthOf(call, ["0", "1", "infinity"]);
  using session = await files.open(target.path, call.signal);
  const entry = there(dav, await find(session, target.path));
  if (depth === "infinity" && entry.kind === "directory") return infiniteDepth();
  // Listings work without the database; requests that change something check locks and fail.
  const locks = await parts.locks.at(user, target.path, { below: true }).catch(onError(HttpError, () => []));
  const shown = locks.map((lock) => ({ ...lock, root: hrefOfLock(call, lock.path) }));
  const resource = (href: string, path: string, entry: DatedEntry): DavResource => ({
    href,
    path,
    kind: entry.kind === "directory" ? "directory" : "file",
    size: entry.size,
    modified: entry.modified,
    modifiedAt: entry.modifiedAt,
    locks: shown.filter((lock) => covers(lock, path)),
  });
  const members: Entry[] = [];
  if (entry.kind === "directory" && depth === "1") {
    const { complete } = await session.list(target.path, (member) => {
      if (member.kind !== "special") members.push(member);
    });
    if (!complete) throw httpError("ERR_TREE_TOO_LARGE");
  }
  const zone = zoneOf(entry);
  const found = function* () { // addresses take much more memory than names
    yield resource(target.href, target.path, entry);
    for (const member of members) {
      const dated = { ...member, modifiedAt: timeOf(member.modified, zone) };
      const href = `${withoutSlash(target.href)}/${encodeURIComponent(member.name)}`;
      yield resource(href, `${target.path === "/" ? "" : target.path}/${member.name}`, dated);
    }
  };
  const bytes = members.reduce((sum, { name }) => sum + 300 + 2 * name.length, 0);
  return await xmlResponse(found(), wanted, parts, bytes);
}

/** Converts the daemon's local time. @param zone Its offset from UTC, in minutes. */
function timeOf(digits: string | undefined, zone: number | undefined): number | undefined {
  if (digits === undefined || zone === undefined) return undefined;
  const [year = 0, month = 1, ...rest] = (digits.match(/^\d{4}|\d{2}/g) ?? []).map(Number);
  return Date.UTC(year, month - 1, ...rest) - zone * 60_000;
}

async function xmlResponse(
  found: Iterable<DavResource>,
  wanted: Wanted,
  { clock, unread }: DavParts,
  bytes = 0,
): Promise<HttpResponse> {
  const pieces = multistatus(found, wanted, clock());
  return await longTextResponse({ pieces, type: XML, bytes }, unread, { status: 207 });
}

/** Refuses an unlimited `PROPFIND` of a directory, whose answer would have no bound (RFC 4918, 9.1). */
function infiniteDepth(): HttpResponse {
  const body =
    '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n';
  return textResponse(body, XML, { status: 403 });
}

/** Refuses changes of properties: a file that is moved by other means would lose them. */
async function proppatch(dav: DavCall): Promise<HttpResponse> {
  const { call, target } = dav;
  const update = await readDavBody(call.request);
  if (update === undefined || !isDav(update, "propertyupdate")) throw wrongBody("propertyupdate");
  const names = update.children.filter((child) => isDav(child, "set") || isDav(child, "remove"))
    .flatMap((child) => childOf(child, "prop")?.children ?? []);
  await requireUnlocked(dav, [{ path: target.path }]);
  const { kind } = there(dav, await entryAt(dav, target.path));
  const shown = { href: target.href, kind: kind === "directory" ? kind : "file" } as const;
  return textResponse(refusedProperties(shown, names), XML, { status: 207 });
}

async function makeCollection(dav: DavCall): Promise<HttpResponse> {
  const { call: { request, signal }, files, target: { path } } = dav;
  const length = request.headers.get("Content-Length") ??
    (request.headers.has("Transfer-Encoding") ? "" : "0");
  if (length !== "0") throw httpError("ERR_UNSUPPORTED_MEDIA_TYPE", { expected: "none, without a body" });
  await requireUnlocked(dav, [{ path }, { path: withoutSlash(parentOf(path)) }]);
  await files.makeDirectory(path, signal);
  return emptyResponse({ status: 201 });
}

async function get(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path, wantsDirectory }, begin, parts } = dav;
  const session = await files.open(path, call.signal);
  try {
    const entry = await session.datedEntry(path);
    if (entry.kind !== "file") throw notOfDirectories();
    if (wantsDirectory) throw nothingThere("a file, named as a directory");
    const wanted = wantedAlgorithm(call.request.headers);
    const digest = wanted && reprDigest(wanted, await session.checksum(path, wanted, entry.size));
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
  if (wantsDirectory) throw notOfDirectories();
  const length = contentLength(headers);
  const announced = announcedDigest(headers);
  let total = 0;
  try {
    const replaced = await files.write(path, request.body, {
      length,
      ...parts.uploads.locks.prepare(user.server, path, signal),
      check: async (existing) => {
        const parent = existing === undefined ? [{ path: withoutSlash(parentOf(path)) }] : [];
        const locked = await requireUnlocked(dav, [{ path }, ...parent]);
        const validators = existing && { ...davValidators(existing, parts.clock()), locked };
        if (!allowsWriting(headers, validators)) throw httpError("ERR_PRECONDITION_FAILED");
      },
      verify: (session, part, size) => verifyDigest(session, part, size, announced),
      progress: (bytes) => total = bytes,
    });
    return emptyResponse({ status: replaced ? 204 : 201 });
  } finally {
    parts.transferred?.("upload", total);
  }
}

async function remove(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path }, user, parts } = dav;
  depthOf(call, WHOLE);
  if (path === "/") throw rootStays();
  await requireVersion(dav);
  await requireUnlocked(dav, [{ path, below: true }, { path: withoutSlash(parentOf(path)) }]);
  await files.remove(path, call.signal);
  await parts.locks.forget(user, path);
  return emptyResponse({ status: 204 });
}

async function copyOrMove(dav: DavCall): Promise<HttpResponse> {
  const { call, files, target: { path: from }, user, parts } = dav;
  const isMove = call.request.method === "MOVE";
  const shallow = depthOf(call, isMove ? WHOLE : ["0", "infinity"] as const) === "0";
  const overwrite = call.request.headers.get("Overwrite")?.trim().toUpperCase() ?? "T";
  if (overwrite !== "T" && overwrite !== "F") throw invalidRequest("Overwrite: expected T or F");
  const { path: to } = await davTarget(call, user.server, destinationOf(call), files.home);
  await requireVersion(dav);
  const before = await entryAt(dav, to);
  const check = async (now: DatedEntry | undefined) => {
    if (now !== undefined && overwrite === "F") throw httpError("ERR_PRECONDITION_FAILED");
    await requireUnlocked(dav, [
      ...(isMove ? [{ path: from, below: true }, { path: withoutSlash(parentOf(from)) }] : []),
      { path: to, below: true },
      ...(before ? [] : [{ path: withoutSlash(parentOf(to)) }]),
    ]);
  };
  await check(before);
  const replacing = { ...parts.uploads.locks.prepare(user.server, to, call.signal), check };
  if (isMove) await files.move(from, to, replacing);
  else await files.copy(from, to, { shallow, ...replacing });
  if (isMove) await parts.locks.forget(user, from);
  return emptyResponse({ status: before ? 204 : 201 });
}

/** Checks the conditions of a request that deletes, moves or copies its target. @throws {ERR_PRECONDITION_FAILED | ERR_NOT_FOUND} */
async function requireVersion(dav: DavCall): Promise<void> {
  const { call: { request: { headers } }, target: { path, wantsDirectory }, parts } = dav;
  if (!wantsDirectory && !CONDITIONS.some((name) => headers.has(name))) return;
  const entry = await entryAt(dav, path);
  if (wantsDirectory && entry?.kind === "file") throw nothingThere("a file, named as a directory");
  const validators = entry && davValidators(entry, parts.clock());
  if (!allowsWriting(headers, validators)) throw httpError("ERR_PRECONDITION_FAILED");
}

function there({ target }: DavCall, entry: DatedEntry | undefined): DatedEntry {
  const isRight = entry !== undefined && entry.kind !== "special" &&
    (entry.kind === "directory" || !target.wantsDirectory);
  if (!isRight) throw nothingThere("neither file nor directory as asked for");
  return entry;
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

function notOfDirectories(): Error {
  const allowed = "OPTIONS, PROPFIND, PROPPATCH, MKCOL, DELETE, COPY, MOVE, LOCK, UNLOCK";
  return httpError("ERR_METHOD_NOT_ALLOWED", { allowed });
}
