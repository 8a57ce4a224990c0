import type { DatabaseSync } from "node:sqlite";

/** Identifies our database files to `file(1)` and to {@link migrate}: "AuSh". */
const APPLICATION_ID = 0x41755368;

/** Steps from one version of the schema to the next; the version is the number of steps taken (`PRAGMA user_version`). */
const STEPS: readonly string[] = [
  `CREATE TABLE share (
     server TEXT NOT NULL,
     id TEXT NOT NULL,
     path TEXT NOT NULL,
     owner TEXT NOT NULL,
     target TEXT NOT NULL,
     uid TEXT NOT NULL,
     gid TEXT,
     access TEXT NOT NULL CHECK (access IN ('READ', 'WRITE', 'MODIFY')),
     one_time INTEGER NOT NULL CHECK (one_time IN (0, 1)),
     uses_left INTEGER CHECK (uses_left >= 0),
     expires INTEGER NOT NULL CHECK (expires >= 0),
     sources TEXT NOT NULL,
     access_count INTEGER NOT NULL CHECK (access_count >= 0),
     created INTEGER NOT NULL,
     last_used INTEGER,
     PRIMARY KEY (server, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX share_by_owner ON share (server, owner);
   CREATE INDEX share_by_target ON share (server, target);
   CREATE INDEX share_by_path ON share (server, path);
   CREATE INDEX share_by_end ON share (expires) WHERE expires > 0;
   CREATE TABLE share_use (
     key INTEGER PRIMARY KEY,
     server TEXT NOT NULL,
     id TEXT NOT NULL,
     at INTEGER NOT NULL,
     who TEXT NOT NULL,
     address TEXT NOT NULL,
     kind TEXT NOT NULL,
     path TEXT NOT NULL,
     bytes INTEGER,
     complete INTEGER,
     FOREIGN KEY (server, id) REFERENCES share (server, id) ON DELETE CASCADE
   ) STRICT;
   CREATE INDEX share_use_by_share ON share_use (server, id, key);`,
  // What was known when a share was made is unknown for those that are there. Lists are read in parts, in their order.
  `ALTER TABLE share ADD COLUMN owner_dn TEXT;
   ALTER TABLE share ADD COLUMN owner_via TEXT;
   ALTER TABLE share ADD COLUMN owner_login TEXT;
   ALTER TABLE share ADD COLUMN owner_uid TEXT;
   ALTER TABLE share ADD COLUMN mapped_account INTEGER CHECK (mapped_account IN (0, 1));
   ALTER TABLE share ADD COLUMN mapped_role INTEGER CHECK (mapped_role IN (0, 1));
   ALTER TABLE share ADD COLUMN made_at_home INTEGER CHECK (made_at_home IN (0, 1));
   ALTER TABLE share ADD COLUMN made_includes TEXT;
   ALTER TABLE share ADD COLUMN made_excludes TEXT;
   ALTER TABLE share ADD COLUMN renewals INTEGER NOT NULL DEFAULT 0 CHECK (renewals >= 0);
   DROP INDEX share_by_owner;
   DROP INDEX share_by_target;
   DROP INDEX share_by_path;
   CREATE INDEX share_by_path ON share (server, path, target);
   CREATE INDEX share_by_owner ON share (server, owner, created, id);
   CREATE INDEX share_by_target ON share (server, target, created, id);
   CREATE INDEX share_used_up ON share (last_used) WHERE uses_left = 0;`,
];

/** A database file that this version must not touch: not ours, or from a newer version. */
export class UnknownDatabase extends Error {
  override readonly name = "UnknownDatabase";
}

/**
 * Brings a database to the newest schema, in one transaction.
 * @throws {UnknownDatabase}
 */
export function migrate(database: DatabaseSync, file: string): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = pragma(database, "user_version");
    const application = pragma(database, "application_id");
    const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n);
    if (application !== APPLICATION_ID && tables > 0) {
      throw new UnknownDatabase(
        `${file}: not a share database of this service (application_id ${application})`,
      );
    }
    if (version > STEPS.length) {
      throw new UnknownDatabase(
        `${file}: schema version ${version}, this service knows up to ${STEPS.length}`,
      );
    }
    for (const step of STEPS.slice(version)) database.exec(step);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STEPS.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
