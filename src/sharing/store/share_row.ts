import { isTextList } from "../../model/json_object.ts";
import type { Row, Values } from "../../store/database.ts";
import {
  type CreationRights,
  parseAccessLevel,
  type Share,
  type ShareTerms,
  type Use,
  type UseKind,
} from "../share.ts";

/** Returns the columns of the terms; a one-time share has one use left unless it was used. */
export function termColumns(
  { path, access, expires, oneTime, usesLeft, sources, note, password, quota, targetName, mail }: ShareTerms,
): Values {
  const left = oneTime && usesLeft !== 0 ? 1 : usesLeft ?? null;
  return {
    path,
    access: access === "DROP" ? "WRITE" : access,
    uploadOnly: Number(access === "DROP"),
    expires,
    oneTime: oneTime ? 1 : 0,
    usesLeft: left,
    sources: JSON.stringify(sources),
    note: note ?? null,
    password: password ?? null,
    quotaFiles: quota?.files ?? null,
    quotaBytes: quota?.bytes ?? null,
    targetName: targetName ?? null,
    mail: mail ?? null,
  };
}

/** Returns the columns of the owner's rights at creation. */
export function creationColumns(made: CreationRights | undefined): Values {
  return {
    ownerDn: made?.owner.dn ?? null,
    ownerVia: made?.owner.via ?? null,
    ownerLogin: made?.owner.login ?? null,
    ownerUid: made?.owner.uid ?? null,
    ownerName: made?.owner.name ?? null,
    mappedGroup: made === undefined ? null : Number(made.mappedGroup),
    mappedRole: made === undefined ? null : Number(made.mappedRole),
    madeAtHome: made === undefined ? null : Number(made.atHome),
    madeIncludes: made?.limits.includes ?? null,
    madeExcludes: made?.limits.excludes ?? null,
  };
}

/** Returns all columns of a share. */
export function shareColumns(share: Share): Values {
  const { server, id, owner, target, uid, gid, accessCount, created, received, made } = share;
  return {
    server,
    id,
    owner,
    target,
    uid,
    gid: gid ?? null,
    accessCount,
    created,
    receivedFiles: received?.files ?? 0,
    receivedBytes: received?.bytes ?? 0,
    ...termColumns(share),
    ...creationColumns(made),
  };
}

/** Parses a share. @throws {TypeError} For invalid rows. */
export function toShare(row: Row): Share {
  const access = parseAccessLevel(text(row, "access"));
  if (access === undefined || access === "NONE") throw new TypeError("share with an unknown access level");
  const sources: unknown = JSON.parse(text(row, "sources"));
  if (!isTextList(sources)) throw new TypeError("share with an unreadable source list");
  const [files, bytes] = [numberOrNone(row, "quota_files"), numberOrNone(row, "quota_bytes")];
  return {
    server: text(row, "server"),
    id: text(row, "id"),
    path: text(row, "path"),
    owner: text(row, "owner"),
    target: text(row, "target"),
    uid: text(row, "uid"),
    gid: textOrNone(row, "gid"),
    access: number(row, "upload_only") === 1 ? "DROP" : access,
    oneTime: number(row, "one_time") === 1,
    usesLeft: numberOrNone(row, "uses_left"),
    expires: number(row, "expires"),
    sources,
    accessCount: number(row, "access_count"),
    created: number(row, "created"),
    made: row.owner_dn === null ? undefined : toCreationRights(row),
    note: textOrNone(row, "note"),
    password: textOrNone(row, "password"),
    quota: files === undefined && bytes === undefined ? undefined : { files, bytes },
    targetName: textOrNone(row, "target_name"),
    mail: textOrNone(row, "mail"),
    received: number(row, "received_files") === 0
      ? undefined
      : { files: number(row, "received_files"), bytes: number(row, "received_bytes") },
  };
}

function toCreationRights(row: Row): CreationRights {
  return {
    owner: {
      dn: text(row, "owner_dn"),
      via: textOrNone(row, "owner_via"),
      login: textOrNone(row, "owner_login"),
      uid: textOrNone(row, "owner_uid"),
      name: textOrNone(row, "owner_name"),
    },
    mappedGroup: number(row, "mapped_account") === 1, // in older rows also for the account
    mappedRole: number(row, "mapped_role") === 1,
    atHome: number(row, "made_at_home") === 1,
    limits: { includes: textOrNone(row, "made_includes"), excludes: textOrNone(row, "made_excludes") },
  };
}

/** Parses a use. @throws {TypeError} For invalid rows. */
export function toUse(row: Row): Use {
  return {
    at: number(row, "at"),
    who: text(row, "who"),
    address: text(row, "address"),
    kind: row.looked === 1 ? "HTTP-look" : useKind(text(row, "kind")),
    path: text(row, "path"),
    bytes: numberOrNone(row, "bytes"),
    complete: row.complete === null ? undefined : number(row, "complete") === 1,
  };
}

function useKind(word: string): UseKind {
  if (word === "HTTP-download" || word === "HTTP-upload" || word === "UFTP") return word;
  throw new TypeError("share use of an unknown kind");
}

/** Returns a text column. @throws {TypeError} */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`share database: ${column} is not text`);
  return value;
}

/** Returns a text column that may be null. @throws {TypeError} */
export function textOrNone(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** Returns a number column. @throws {TypeError} */
export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`share database: ${column} is not a number`);
  return value;
}

/** Returns a number column that may be null. @throws {TypeError} */
export function numberOrNone(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : number(row, column);
}
