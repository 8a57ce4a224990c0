import { nameOf } from "../../model/absolute_path.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { formatHttpDate, validatorsOf } from "../access/validators.ts";
import { escaped, isDav, type PropertyName } from "./dav_xml.ts";
import { lockXml, type ShownLock } from "./dav_locks.ts";

/** Resource as `PROPFIND` shows it. */
export interface DavResource extends Pick<Entry, "size" | "modified"> {
  readonly href: string; // percent-encoded, without trailing slash
  readonly path: string;
  readonly kind: "file" | "directory";
  readonly modifiedAt?: number | undefined; // milliseconds since the epoch
  readonly locks: readonly ShownLock[];
}

/** Requested properties; `undefined` requests all. */
export type Wanted = { readonly names: readonly PropertyName[] | undefined; readonly valuesToo: boolean };

const LOCKS =
  "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>" +
  "<D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>";

/** Live properties of the namespace `DAV:` with their values as XML; undefined if the resource has none. */
const PROPERTIES: Readonly<Record<string, (resource: DavResource, now: number) => string | undefined>> = {
  displayname: ({ path }) => escaped(nameOf(path)),
  getcontentlength: ({ kind, size }) => kind === "file" ? String(size) : undefined,
  getcontenttype: ({ kind }) => kind === "file" ? "application/octet-stream" : undefined,
  getetag: (resource, now) =>
    resource.kind === "file" ? escaped(davValidators(resource, now).etag) : undefined,
  getlastmodified: ({ modifiedAt }) => modifiedAt === undefined ? undefined : formatHttpDate(modifiedAt),
  lockdiscovery: ({ locks }, now) => locks.map((lock) => lockXml(lock, now)).join(""),
  resourcetype: ({ kind }) => kind === "directory" ? "<D:collection/>" : "",
  supportedlock: () => LOCKS,
};

/** Reports whether the service itself determines a property. */
function isLive({ namespace }: PropertyName): boolean {
  return namespace === "DAV:";
}

/** Derives validators, also from facts that listings show: the daemon's local time serves as the version. */
export function davValidators(
  { size, modified, modifiedAt }: Pick<DavResource, "size" | "modified" | "modifiedAt">,
  now: number,
) {
  return validatorsOf({ size, modifiedAt, version: modified }, now);
}

/** Yields a `multistatus` body (RFC 4918, 14.16). */
export function* multistatus(
  resources: Iterable<DavResource>,
  wanted: Wanted,
  now: number,
): Generator<string, void> {
  yield '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">';
  for (const resource of resources) {
    const { names, valuesToo } = wanted;
    const found: string[] = [];
    const missing: string[] = [];
    for (const wanted of names ?? Object.keys(PROPERTIES).map((name) => ({ namespace: "DAV:", name }))) {
      const { name } = wanted;
      const known = isDav(wanted, name) && Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name] : undefined;
      const value = known?.(resource, now);
      if (value !== undefined) found.push(valuesToo ? `<D:${name}>${value}</D:${name}>` : `<D:${name}/>`);
      else if (names !== undefined) missing.push(emptyElement(wanted));
    }
    const stats = [
      ...(found.length > 0 || missing.length === 0 ? [propstat(found, "200 OK")] : []),
      ...(missing.length > 0 ? [propstat(missing, "404 Not Found")] : []),
    ];
    yield `<D:response>${hrefXml(resource)}${stats.join("")}</D:response>\n`;
  }
  yield "</D:multistatus>\n";
}

/** Returns the body of a `PROPPATCH` answer that refuses all changes (RFC 4918, 9.2). */
export function refusedProperties(
  resource: Pick<DavResource, "href" | "kind">,
  names: readonly PropertyName[],
): string {
  const error = "<D:error><D:cannot-modify-protected-property/></D:error>";
  const live = names.filter(isLive).map(emptyElement);
  const dead = names.filter((name) => !isLive(name)).map(emptyElement);
  const stats = (live.length > 0 ? propstat(live, "403 Forbidden", error) : "") +
    (dead.length > 0 ? propstat(dead, "403 Forbidden") : "");
  return '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">' +
    `<D:response>${hrefXml(resource)}${stats}</D:response></D:multistatus>\n`;
}

function hrefXml({ href, kind }: Pick<DavResource, "href" | "kind">): string {
  return `<D:href>${escaped(kind === "directory" && !href.endsWith("/") ? `${href}/` : href)}</D:href>`;
}

function propstat(properties: readonly string[], status: string, error = ""): string {
  const prop = `<D:prop>${properties.join("")}</D:prop>`;
  return `<D:propstat>${prop}<D:status>HTTP/1.1 ${status}</D:status>${error}</D:propstat>`;
}

function emptyElement({ namespace, name }: PropertyName): string {
  return isDav({ namespace, name }, name) ? `<D:${name}/>` : `<${name} xmlns="${escaped(namespace)}"/>`;
}
