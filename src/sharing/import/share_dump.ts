import { isJsonObject } from "../../model/json_object.ts";
import { attempt } from "../../model/attempt.ts";
import { isAddressRange } from "../../model/address.ts";
import { groupNames, isUserAccount } from "../../model/account_name.ts";
import { LAST_SECOND } from "../../model/clock.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { isMailAddress } from "../../model/mail_address.ts";
import { HttpError } from "../../model/http_error.ts";
import {
  type CreationRights,
  EXPECTED_TARGET,
  isDirectory,
  isExpired,
  isShareId,
  parseAccessLevel,
  parseTarget,
  type Quota,
  type Share,
} from "../share.ts";
import { absolutePath, hasForbiddenCharacter } from "../../model/absolute_path.ts";
import { csvRows, UnreadableDump } from "./csv_rows.ts";
import { isSqlDump, sqlRecords } from "./sql_dump.ts";

/** Case-insensitive members of an entry, named as in records of the Java service (rest-api.md 2.1); `usesLeft`, and those from `sources` on, are ours. */
const MEMBERS =
  "server id path isDirectory ownerID uid gid targetID access oneTime usesLeft expires accessCount sources note password maxFiles maxBytes createdAt targetName mail received.files received.bytes made.owner.dn made.owner.via made.owner.login made.owner.uid made.owner.name made.mappedGroup made.mappedRole made.atHome made.limits.includes made.limits.excludes";

type Words<T> = T extends `${infer First} ${infer More}` ? First | Words<More> : T;
type Member = Words<typeof MEMBERS>;
const KNOWN: ReadonlySet<string> = new Set(MEMBERS.toLowerCase().split(" "));

interface Entry {
  readonly line?: number;
  readonly place?: string;
  readonly values: ReadonlyMap<string, string> | undefined; // absent: no record
  readonly isRecord?: boolean; // whether it is a record of the Java service, whose table holds the shares of all servers
}

interface DumpOptions {
  readonly file: string;
  readonly server?: string | undefined; // default server; without it, records of the Java service apply to all `servers`
  readonly servers: readonly string[];
  readonly now: number;
}

export interface ReadShares {
  readonly shares: readonly Share[]; // without id if their entry has none; those of one entry differ only in their server
  readonly ended: number; // expired entries
  readonly refused: number; // invalid entries
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a dump of shares: CSV with a header line, an array of JSON objects, or a table of the Java service (members as JSON
 * in column `data`) as CSV or as written by pg_dump, mysqldump or H2's SCRIPT. Requires `path`, `ownerID`, `uid` and
 * `targetID`; `access` defaults to reading.
 * @throws {InvalidFile}
 */
export function readShareDump(text: string, options: DumpOptions): ReadShares {
  return toShares(readEntries(text, options.file), options);
}

/** Parses records of the Java service's tables, by id. @param options.file Name for diagnostics. */
export function readShareRecords(
  records: readonly { readonly id: string; readonly data: string }[],
  options: DumpOptions,
): ReadShares {
  return toShares(records.map(({ id, data }) => ({ place: id, ...recordOf(data) })), options);
}

function toShares(entries: readonly Entry[], { file, server, servers, now }: DumpOptions): ReadShares {
  const diagnostics: Diagnostic[] = [];
  const shares: Share[] = [];
  const places = new Map<string, string>(); // by server and id, or by all members that identify a share without id
  let [ended, refused] = [0, 0];
  for (const { line, place, values, isRecord } of entries) {
    const before = diagnostics.length;
    const report = (member: string | undefined, expected: string) => {
      const key = [place, member].filter((part) => part !== undefined).join(".") || undefined;
      diagnostics.push({ severity: "error", file, line, key, expected });
    };
    if (values === undefined) report(undefined, "expected a JSON object in the column data");
    for (const [name, value] of isRecord ? [] : values ?? []) {
      if (!KNOWN.has(name) && value.trim() !== "") {
        report(name, "unknown, see authserver share import --help");
      } else if (/^(?:note|targetname|made\.)/.test(name) && hasForbiddenCharacter(value)) {
        report(name, "expected no control characters");
      }
    }
    const isForAll = isRecord && server === undefined && servers.length > 0;
    const share = values && toShare(values, { server: isForAll ? servers[0] : server, servers, now, report });
    const key = JSON.stringify(share && [share.server, share.id || [share.owner, share.path, share.target]]);
    const first = places.get(key);
    if (first !== undefined) {
      report(share?.id ? "id" : "path, ownerID and targetID", `used in ${first} already`);
    }
    if (share === undefined || diagnostics.length > before) refused++;
    else if (isExpired(share, now)) ended++;
    else {
      places.set(key, place ?? `line ${line}`);
      shares.push(...isForAll ? servers.map((each) => ({ ...share, server: each })) : [share]);
    }
  }
  return { shares, ended, refused, diagnostics };
}

function readEntries(text: string, file: string): readonly Entry[] {
  const fail = (expected: string, line?: number): never => {
    throw new InvalidFile([{ severity: "error", file, line, expected }]);
  };
  if (/^\s*[[{]/.test(text)) {
    // trim() removes a byte order mark.
    const list: unknown = attempt(() => JSON.parse(text.trim()), SyntaxError, () => fail("not valid JSON"));
    if (!Array.isArray(list)) return fail("expected an array of shares");
    return list.map((item: unknown, i): Entry => {
      if (typeof item !== "object" || item === null) return fail(`entry ${i + 1}: expected an object`);
      return { place: `[${i}]`, values: new Map(membersOf(item)) };
    });
  }
  try {
    if (isSqlDump(text)) return sqlRecords(text).map(({ line, record }) => ({ line, ...recordOf(record) }));
    const [header, ...rows] = csvRows(text);
    const names = header?.fields.map((name) => name.trim().toLowerCase()) ?? [];
    if (!names.includes("path") && !names.includes("data")) {
      return fail("expected a header line or a JSON array");
    }
    return rows.map(({ line, fields }): Entry => {
      if (fields.length !== names.length) {
        fail(`expected ${names.length} fields, found ${fields.length}`, line);
      }
      const values = new Map(names.map((name, i) => [name, fields[i] ?? ""]));
      // The Java service repeats some members in columns of other names.
      const record = values.has("ownerid") ? undefined : values.get("data");
      if (record === undefined) return { line, values };
      const entry = recordOf(record);
      return { ...entry, line, values: entry.values && new Map([...values, ...entry.values]) };
    });
  } catch (error) {
    if (error instanceof UnreadableDump) return fail(error.message, error.line);
    throw error;
  }
}

/** Reads the JSON of a Java record. */
function recordOf(text: string): Pick<Entry, "values" | "isRecord"> {
  try {
    const record: unknown = JSON.parse(text);
    return { values: isJsonObject(record) ? new Map(membersOf(record)) : undefined, isRecord: true };
  } catch {
    return { values: undefined };
  }
}

const MAX_MEMBER_LENGTH = 40; // characters; longer names are unknown at any depth

/** Returns the members in lower case, those of a nested object as `received.files`. */
function membersOf(item: object, within = ""): [string, string][] {
  return Object.entries(item).flatMap(([key, value]) => {
    const name = within + key.toLowerCase();
    const isList = Array.isArray(value) && value.every((each) => typeof each !== "object");
    if (typeof value === "object" && value !== null && !isList) {
      return within.length > MAX_MEMBER_LENGTH ? [[name, "an object"]] : membersOf(value, `${name}.`);
    }
    return value === null ? [] : [[name, String(value)]];
  });
}

class MemberReader {
  good = true;

  constructor(
    readonly values: ReadonlyMap<string, string>,
    readonly report: (key: Member, expected: string) => void,
  ) {}

  bad(key: Member, expected: string): undefined {
    this.good = false;
    this.report(key, expected);
  }

  given(key: Member): string | undefined {
    return this.values.get(key.toLowerCase())?.trim() || undefined;
  }

  /** Reads a required member. @param expected Text for the operator; default: the parser's message. */
  parsed(
    key: Member,
    text: string | undefined,
    parse: (text: string) => string,
    expected?: string,
  ): string | undefined {
    if (text === undefined) return this.bad(key, "missing");
    return attempt(() => parse(text), HttpError, (error) => this.bad(key, expected ?? error.publicMessage));
  }

  count(key: Member): number | undefined {
    const text = this.given(key) ?? "0";
    return /^\d{1,15}$/.test(text) ? Number(text) : this.bad(key, "expected a whole number");
  }

  bound(key: Member): number | undefined {
    return this.given(key) === undefined ? undefined : this.count(key);
  }

  /** An unreadable hash is an error: the share must not lose its password. */
  hash(): string | undefined {
    const hash = this.given("password");
    const isHash = hash === undefined ||
      /^\$scrypt\$ln=\d{1,2},r=\d{1,2},p=\d{1,2}\$[\w+/]{11,90}\$[\w+/]{22,90}$/.test(hash);
    return isHash ? hash : this.bad("password", "expected a hash, $scrypt$…");
  }

  quota(): Quota | undefined {
    const [files, bytes] = [this.bound("maxFiles"), this.bound("maxBytes")];
    return files === undefined && bytes === undefined ? undefined : { files, bytes };
  }

  flag(key: Member): boolean | undefined {
    const text = this.given(key)?.toLowerCase() ?? "false";
    if (text === "true" || text === "1") return true;
    return text === "false" || text === "0" ? false : this.bad(key, "expected true or false");
  }

  /** Reads the owner's rights at creation. They restrict the share, so an incomplete set is an error. */
  creationRights(): CreationRights | undefined {
    const text = (key: Member) => this.values.get(key.toLowerCase()) || undefined; // with blanks at its ends
    if (![...this.values].some(([key, value]) => key.startsWith("made.") && value !== "")) return undefined;
    const dn = text("made.owner.dn");
    if (this.parsed("made.owner.dn", dn, canonicalDn) === undefined || dn === undefined) return undefined;
    const [via, login] = [text("made.owner.via"), text("made.owner.login")];
    return {
      owner: { dn, via, login, uid: text("made.owner.uid"), name: text("made.owner.name") },
      mappedGroup: this.flag("made.mappedGroup") ?? false,
      mappedRole: this.flag("made.mappedRole") ?? false,
      atHome: this.flag("made.atHome") ?? false,
      limits: { includes: text("made.limits.includes"), excludes: text("made.limits.excludes") },
    };
  }

  name(key: "uid" | "gid"): string | undefined {
    const text = this.given(key);
    if (text === undefined) return undefined;
    const names = key === "gid" ? groupNames(text) : [text];
    return names.every(isUserAccount)
      ? names.join(":")
      : this.bad(key, "expected the name of an unprivileged account or group");
  }
}

/** Returns the share of an entry; undefined after a reported error. */
function toShare(
  values: ReadonlyMap<string, string>,
  { server, servers, now, report }: Omit<DumpOptions, "file"> & Pick<MemberReader, "report">,
): Share | undefined {
  const entry = new MemberReader(values, report);
  const home = entry.given("server") ?? server ??
    entry.bad("server", "missing, and none was named for the import");
  if (home !== undefined && !servers.includes(home)) {
    entry.bad("server", `expected a server with sharing: ${servers.join(", ")}`);
  }
  const id = entry.given("id") ?? "";
  if (id !== "" && !isShareId(id)) entry.bad("id", "expected up to 22 letters and digits, or a UUID");
  const directory = entry.flag("isDirectory");
  // Blanks at the ends belong to the path.
  const path = entry.parsed("path", values.get("path") || undefined, absolutePath);
  const owner = entry.parsed("ownerID", entry.given("ownerID"), canonicalDn);
  const target = entry.parsed("targetID", entry.given("targetID"), parseTarget, EXPECTED_TARGET);
  const uid = entry.given("uid") === undefined ? entry.bad("uid", "missing") : entry.name("uid");
  const access = parseAccessLevel(entry.given("access") ?? "READ");
  if (access === undefined || access === "NONE") entry.bad("access", "expected READ, WRITE, MODIFY or DROP");
  const [oneTime, usesLeft] = [entry.flag("oneTime") ?? false, entry.bound("usesLeft")];
  const sources = entry.given("sources")?.split(/[\s,]+/) ?? [];
  if (!sources.every(isAddressRange)) entry.bad("sources", "expected addresses or ranges");
  const [password, quota, made] = [entry.hash(), entry.quota(), entry.creationRights()];
  const [mail, targetName, gid] = [entry.given("mail"), entry.given("targetName"), entry.name("gid")];
  if (mail !== undefined && !isMailAddress(mail)) entry.bad("mail", "expected a mail address");
  if (targetName !== undefined && attempt(() => parseTarget(targetName), HttpError, () => {}) !== target) {
    entry.bad("targetName", "expected the targetID, perhaps in another spelling");
  }
  const received = { files: entry.count("received.files") ?? 0, bytes: entry.count("received.bytes") ?? 0 };
  const created = entry.bound("createdAt") ?? now;
  const [expires, accessCount] = [entry.count("expires") ?? 0, entry.count("accessCount") ?? 0];
  if (
    !entry.good || home === undefined || path === undefined || owner === undefined || target === undefined ||
    uid === undefined || access === undefined || access === "NONE"
  ) return undefined;
  return {
    server: home,
    id,
    path: directory && !path.endsWith("/") ? `${path}/` : path,
    owner,
    target,
    uid,
    gid,
    access,
    oneTime,
    usesLeft,
    expires: Math.min(expires, LAST_SECOND),
    accessCount,
    sources,
    note: entry.given("note"),
    password,
    quota,
    mail,
    targetName,
    received,
    made,
    created: Math.min(created, now),
  };
}

/** Returns a share as a dump entry for {@link readShareDump}. */
export function dumpEntry({ owner, target, sources, quota, created, ...same }: Share) {
  return {
    ...same,
    isDirectory: isDirectory(same),
    ownerID: owner,
    targetID: target,
    ...(sources.length > 0 && { sources }),
    maxFiles: quota?.files,
    maxBytes: quota?.bytes,
    createdAt: created,
  };
}
