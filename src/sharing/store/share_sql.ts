import { httpError } from "../../model/http_error.ts";
import { DatabaseFailure, type Row, row, type SqlSteps, type Values } from "../../store/database.ts";
import { EVERYBODY, GROUP_PREFIX } from "../share.ts";

const MAX_USE_RECORDS = 1000; // most use records per share; the store deletes older ones

/** Uses of a share from one deletion of older records to the next. */
export const TRIM_INTERVAL = 50;

const USED_UP_TTL = 30 * 24 * 3600; // seconds that an owner can still read a used-up share: 30 days

/** Shares deleted in one transaction; each can have {@link MAX_USE_RECORDS} records. */
export const PURGE_BATCH = 20;

const FORGET_BATCH = 200; // used-up shares deleted in one transaction; each has few records

/** Owner's rights at creation, except `mappedGroup`, which depends on account and group. */
const CREATION_RIGHTS =
  `owner_dn = :ownerDn, owner_via = :ownerVia, owner_login = :ownerLogin, owner_uid = :ownerUid, owner_name = :ownerName,
       mapped_role = :mappedRole, made_at_home = :madeAtHome, made_includes = :madeIncludes, made_excludes = :madeExcludes`;

const isForMany = (target: string) => `(${target} = '${EVERYBODY}' OR ${target} LIKE '${GROUP_PREFIX}%')`;

const CONTINUATION_MS = 3_600_000; // milliseconds in which requests can continue a use: an hour

/**
 * Recent download of the same person: by the browser with the cookie, or from the address, since programs keep no cookies.
 * Another person may share the address, so from there only a range or a retry after a broken download can continue.
 */
const RECENT_USE = `SELECT key FROM share_use WHERE server = :server AND id = :id AND kind = 'HTTP-download'
     AND looked IS NULL AND who = :who AND at > :clock - ${CONTINUATION_MS}
     AND (visitor = :visitor OR (address = :address AND (:ranged = 1 OR complete = 0)))`;

/** Lease of an upload, in milliseconds. */
export const UPLOAD_LEASE_MS = 15_000;

const UPLOAD_TTL = 24 * 3600; // seconds from the last byte to the deletion of an upload: a day

const IS_DUE = `touched <= :now - ${UPLOAD_TTL} AND (holder IS NULL OR held_until < :clock)`;

/** A holder follows 32 characters about the client that began the upload; earlier versions of the service write none. */
const HOLD = "holder = substr(coalesce(holder, :holder), 1, 32) || :holder";
const IS_HELD = "substr(holder, 33) = :holder";

const THIS_UPLOAD = `server = :server AND share = :id AND key = :key`;

/** Quota in use under new terms: a share that becomes an upload share begins with its unfinished uploads. */
const inUse = (quota: "files" | "bytes") =>
  `CASE WHEN upload_only >= :uploadOnly THEN received_${quota} ELSE (SELECT coalesce(sum(${quota}), 0)
     FROM share_upload INDEXED BY share_upload_unfinished WHERE share = :id AND kept = 0) END`;

/** Earlier shares of other owners with overlapping targets; the members of groups are unknown here. */
const OVERLAPPING = `owner <> :owner AND created < :before
     AND (target = :target OR ${isForMany("target")} OR ${isForMany(":target")})
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now)`;

const IS_LIVE = "CASE WHEN expires = 0 OR expires >= :now THEN 1 ELSE 0 END";

/** Same id on all servers: the Java service has one share for all, so a change applies to each. Scans by the primary key. */
const ALL_SERVERS = `id = :id AND server IN (WITH RECURSIVE known (name) AS (
       SELECT min(server) FROM share UNION ALL
       SELECT (SELECT min(server) FROM share WHERE server > known.name) FROM known WHERE known.name IS NOT NULL)
       SELECT name FROM known) AND EXISTS (SELECT 1 FROM share AS here WHERE here.server = :server AND here.id = :id)`;

/** Statements; the database binds `:now` and `:clock`. SQLite expects few shares per server: statements name indexes. */
export const SQL = {
  insert:
    `INSERT INTO share (server, id, path, owner, target, uid, gid, access, one_time, uses_left, expires, sources,
       access_count, created, owner_dn, owner_via, owner_login, owner_uid, mapped_account, mapped_role,
       made_at_home, made_includes, made_excludes, note, password, upload_only, quota_files, quota_bytes, mail, target_name, owner_name, received_files, received_bytes)
     VALUES (:server, :id, :path, :owner, :target, :uid, :gid, :access, :oneTime, :usesLeft, :expires, :sources,
       :accessCount, coalesce(:created, :clock), :ownerDn, :ownerVia, :ownerLogin, :ownerUid, :mappedGroup, :mappedRole,
       :madeAtHome, :madeIncludes, :madeExcludes, :note, :password, :uploadOnly, :quotaFiles, :quotaBytes, :mail, :targetName, :ownerName, :receivedFiles, :receivedBytes)
     ON CONFLICT DO NOTHING RETURNING *`,
  same: `SELECT id, created FROM share INDEXED BY share_by_path
     WHERE server = :server AND owner = :owner AND path = :path AND target = :target
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) ORDER BY created LIMIT 1`,
  terms:
    `UPDATE share SET path = :path, access = :access, one_time = :oneTime, uses_left = :usesLeft, expires = :expires,
       sources = :sources, renewals = renewals + 1, note = :note, password = :password, upload_only = :uploadOnly,
       received_files = ${inUse("files")}, received_bytes = ${inUse("bytes")},
       quota_files = :quotaFiles, quota_bytes = :quotaBytes, mail = :mail, target_name = :targetName, ${CREATION_RIGHTS},
       mapped_account = CASE WHEN uid = :uid AND gid IS NOT DISTINCT FROM :gid THEN :mappedGroup ELSE coalesce(mapped_account, 0) END
     WHERE ${ALL_SERVERS} AND (expires = 0 OR expires >= :now) AND uses_left IS DISTINCT FROM 0 RETURNING *`,
  supersede: `UPDATE share INDEXED BY share_by_path SET renewals = renewals + 1
     WHERE server = :server AND owner = :owner AND path = :path AND target = :target AND uses_left = 0`,
  change: `UPDATE share SET path = coalesce(:path, path), expires = coalesce(:expires, expires),
       sources = coalesce(:sources, sources), note = nullif(coalesce(:note, note), ''),
       password = nullif(coalesce(:password, password), ''), mail = nullif(coalesce(:mail, mail), '')
     WHERE ${ALL_SERVERS} AND (expires = 0 OR expires >= :now) RETURNING *`,
  setRights: `UPDATE share SET ${CREATION_RIGHTS}, mapped_account = :mappedGroup
     WHERE ${ALL_SERVERS} AND (expires = 0 OR expires >= :now) RETURNING *`,
  get: `SELECT * FROM share WHERE server = :server AND id = :id AND (expires = 0 OR expires >= :now)`,
  ownedBy: `SELECT * FROM share INDEXED BY share_by_owner WHERE server = :server AND owner = :name
     AND (created, id) > (:created, :id)
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id LIMIT :most`,
  crowded: `SELECT id FROM share INDEXED BY share_by_owner WHERE server = :server AND owner = :owner
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) LIMIT 1 OFFSET :before`,
  forgetUsedUp: `DELETE FROM share WHERE uses_left = 0 AND (server, id) IN (
       SELECT server, id FROM share INDEXED BY share_by_owner WHERE server = :server AND owner = :owner AND uses_left = 0
       ORDER BY last_used DESC, created DESC, id LIMIT ${FORGET_BATCH} OFFSET :most) RETURNING id`,
  targetedAt: `SELECT * FROM share INDEXED BY share_by_target WHERE server = :server AND target = :name
     AND (created, id) > (:created, :id)
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id LIMIT :most`,
  targets: `SELECT given.value AS target FROM (SELECT value FROM json_each(:targets)) AS given
     WHERE EXISTS (SELECT 1 FROM share INDEXED BY share_by_target WHERE server = :server AND target = given.value)`,
  withPaths: `SELECT * FROM share INDEXED BY share_by_path
     WHERE server = :server AND path IN (SELECT value FROM json_each(:paths))
     AND target IN (SELECT value FROM json_each(:targets))
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id LIMIT 1000`,
  anyWithPaths: `SELECT id FROM share INDEXED BY share_by_path
     WHERE server = :server AND path IN (SELECT value FROM json_each(:paths))
     AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) LIMIT 1`,
  above: `SELECT id FROM share INDEXED BY share_by_path
     WHERE server = :server AND path IN (SELECT value FROM json_each(:paths))
     AND (path = :path OR access <> 'READ') AND ${OVERLAPPING} LIMIT 1`,
  below: `SELECT id FROM share INDEXED BY share_by_path
     WHERE server = :server AND path > :path AND path < :end AND ${OVERLAPPING} LIMIT 1`,
  // Skips from server to server by the primary key: few servers have many shares each.
  servers: `WITH RECURSIVE one(server) AS (SELECT min(server) FROM share WHERE server >= :first UNION ALL
       SELECT (SELECT min(server) FROM share WHERE share.server > one.server) FROM one WHERE one.server IS NOT NULL)
     SELECT server FROM one WHERE server IS NOT NULL`,
  // Reads `:scan` shares, including expired ones, of which it returns only the last, as the end of the page.
  listed:
    `WITH part AS (SELECT *, ${IS_LIVE} AS live FROM share WHERE server = :server AND id > :id ORDER BY id LIMIT :scan)
     SELECT *, (SELECT count(id) FROM part) AS scanned FROM part WHERE live = 1 OR id = (SELECT max(id) FROM part) ORDER BY id LIMIT :most`,
  listedOf:
    `WITH part AS (SELECT *, ${IS_LIVE} AS live FROM share INDEXED BY share_by_owner WHERE server = :server AND owner = :owner
       AND (created, id) > (:created, :id) ORDER BY created, id LIMIT :scan)
     SELECT *, (SELECT count(id) FROM part) AS scanned FROM part
     WHERE live = 1 OR id = (SELECT id FROM part ORDER BY created DESC, id DESC LIMIT 1) ORDER BY created, id LIMIT :most`,
  count: `SELECT (SELECT count(*) FROM share) - (SELECT count(*) FROM (SELECT 1 FROM share
     WHERE expires > 0 AND expires < :now LIMIT 10000) AS expired) AS shares`,
  remove: `DELETE FROM share WHERE ${ALL_SERVERS} RETURNING *`,
  withPath: `SELECT id FROM share INDEXED BY share_by_path
     WHERE server = :server AND owner = :owner AND path = :path AND target = :target`,
  amend: `UPDATE share SET owner = :owner, target = :target, uid = :uid, gid = :gid, path = :path,
     owner_dn = CASE WHEN owner = :owner AND uid = :uid AND path = :path THEN owner_dn END,
     mapped_account = CASE WHEN gid IS NOT DISTINCT FROM :gid THEN mapped_account ELSE 0 END,
     target_name = CASE WHEN target = :target THEN target_name END,
     mail = CASE WHEN owner = :owner THEN mail END
     WHERE ${ALL_SERVERS} AND (expires = 0 OR expires >= :now) RETURNING *`,
  take: `UPDATE share SET uses_left = uses_left - 1, access_count = access_count + 1, last_used = :now
     WHERE ${ALL_SERVERS} AND uses_left IS DISTINCT FROM 0 AND (expires = 0 OR expires >= :now) RETURNING *`,
  // Limits the sum even without a quota: SQLite cannot read numbers above 2^53.
  reserve:
    `UPDATE share SET received_files = received_files + :files, received_bytes = received_bytes + :bytes
     WHERE ${ALL_SERVERS} AND (expires = 0 OR expires >= :now)
     AND (quota_files IS NULL OR received_files + :files <= quota_files)
     AND received_bytes + :bytes <= coalesce(quota_bytes, ${2 ** 52}) RETURNING id`,
  release:
    `UPDATE share SET received_files = received_files - :files, received_bytes = received_bytes - :bytes
     WHERE ${ALL_SERVERS} AND received_files >= :files AND received_bytes >= :bytes RETURNING id`,
  restoreUse:
    `UPDATE share SET uses_left = uses_left + CASE WHEN renewals = :renewals THEN 1 ELSE 0 END, access_count = access_count - 1
     WHERE ${ALL_SERVERS}`,
  record: `INSERT INTO share_use (server, id, at, who, address, kind, path, looked, version, visitor)
     VALUES (:server, :id, :clock, :who, :address, :kind, :path, :looked, :version, :visitor) RETURNING key`,
  canContinue: `${RECENT_USE} LIMIT 1`,
  continue: `UPDATE share_use SET bytes = coalesce(bytes, 0), complete = NULL WHERE key = (
     ${RECENT_USE} AND path = :path AND version = :version ORDER BY key DESC LIMIT 1) RETURNING key`,
  trimUses: `DELETE FROM share_use WHERE key <= (SELECT key FROM share_use WHERE server = :server AND id = :id
     ORDER BY key DESC LIMIT 1 OFFSET ${MAX_USE_RECORDS}) AND server = :server AND id = :id`,
  // A use that another request continued cannot be given back.
  deleteUse: `DELETE FROM share_use WHERE key = :key AND bytes IS NULL RETURNING key`,
  finish:
    `UPDATE share_use SET bytes = coalesce(bytes, 0) + :bytes, complete = :complete WHERE key = :key RETURNING path`,
  uses: `SELECT * FROM share_use WHERE server = :server AND id = :id ORDER BY key DESC LIMIT :limit`,
  purgeExpired: `DELETE FROM share WHERE expires > 0 AND expires < :now
       AND (server, id) IN (SELECT server, id FROM share INDEXED BY share_by_end
       WHERE expires > 0 AND expires < :now ORDER BY expires LIMIT ${PURGE_BATCH}) RETURNING *`,
  purgeUsedUp:
    `DELETE FROM share WHERE uses_left = 0 AND (server, id) IN (SELECT server, id FROM share INDEXED BY share_used_up
       WHERE uses_left = 0 AND last_used < :now - ${USED_UP_TTL} ORDER BY last_used LIMIT ${PURGE_BATCH}) RETURNING *`,
  uploadOf: `SELECT * FROM share_upload WHERE ${THIS_UPLOAD}`,
  // No client has more than others may still begin.
  unfinishedUploads:
    `SELECT count(*) AS uploads FROM share_upload INDEXED BY share_upload_unfinished WHERE server = :server AND share = :id AND kept = 0
     HAVING count(*) + count(CASE WHEN substr(holder, 1, 32) = :client THEN 1 END) > 1 + :most`,
  insertUpload:
    `INSERT INTO share_upload (server, share, key, uid, gid, part, name, total, files, bytes, target, kept, holder, held_until, wanted, touched)
     VALUES (:server, :id, :key, :uid, :gid, :part, :name, :total, :files, :bytes, :target, 0, :client || :holder, :clock + ${UPLOAD_LEASE_MS}, 0, coalesce(:touched, :now))
     ON CONFLICT DO NOTHING RETURNING key`,
  acquireUpload: `UPDATE share_upload SET ${HOLD}, held_until = :clock + ${UPLOAD_LEASE_MS}, wanted = 0
     WHERE ${THIS_UPLOAD} AND (holder IS NULL OR ${IS_HELD} OR held_until < :clock) RETURNING *`,
  acquireDueUpload: `UPDATE share_upload SET ${HOLD}, held_until = :clock + ${UPLOAD_LEASE_MS}, wanted = 0
     WHERE ${THIS_UPLOAD} AND ${IS_DUE} RETURNING *`,
  wantUpload: `UPDATE share_upload SET wanted = 1 WHERE ${THIS_UPLOAD} RETURNING key`,
  renewUpload: `UPDATE share_upload SET held_until = :clock + ${UPLOAD_LEASE_MS},
     touched = CASE WHEN touched > 0 THEN :now ELSE 0 END WHERE ${THIS_UPLOAD} AND ${IS_HELD} RETURNING wanted`,
  releaseUpload: `UPDATE share_upload SET holder = substr(holder, 1, 32), held_until = 0, touched = :now
     WHERE ${THIS_UPLOAD} AND ${IS_HELD} RETURNING key`,
  resizeUpload:
    `UPDATE share_upload SET files = :files, bytes = :bytes WHERE ${THIS_UPLOAD} AND ${IS_HELD} RETURNING key`,
  setTarget: `UPDATE share_upload SET target = :target WHERE ${THIS_UPLOAD} AND ${IS_HELD} AND NOT EXISTS (
       SELECT 1 FROM share_upload AS other WHERE other.server = :server AND other.target = :target AND other.kept = 0
       AND NOT (other.share = :id AND other.key = :key)) RETURNING key`,
  clearTarget: `UPDATE share_upload INDEXED BY share_upload_target SET target = NULL
     WHERE server = :server AND target = :target AND kept = 0 AND files > 0
       AND (holder IS NULL OR held_until < :clock) RETURNING key`,
  finishUpload:
    `UPDATE share_upload SET kept = 1, holder = NULL, touched = :now WHERE ${THIS_UPLOAD} AND kept = 0 RETURNING *`,
  deleteUpload: `DELETE FROM share_upload WHERE ${THIS_UPLOAD} RETURNING *`,
  // Changes no value, but waits for other changes, so that events of a share keep their order.
  lock: `UPDATE share SET access_count = access_count WHERE server = :server AND id = :id RETURNING *`,
  dueUploads: `SELECT * FROM share_upload WHERE ${IS_DUE} ORDER BY touched LIMIT 100`,
} as const;

/** Returns the first row of a statement. */
export function first(name: keyof typeof SQL, values: Values): SqlSteps<Row | undefined> {
  return row(SQL[name], values);
}

/** @throws {ERR_SHARE_STORE} For a failure of the database. */
export function rethrow(error: unknown): never {
  throw error instanceof DatabaseFailure ? httpError("ERR_SHARE_STORE", error.message, error) : error;
}
