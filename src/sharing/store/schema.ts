import type { Schema } from "../../store/sqlite_database.ts";

/** File in `persistence.directory`. */
export const SHARE_DATABASE = "shares.sqlite";

/** Tables of shares and uses. */
export const SHARE_SCHEMA: Schema = {
  what: "share database",
  applicationId: 0x41755368, // "AuSh"
  steps: [
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
    // Existing shares have no record of their creation. Indexes serve lists that are read in parts.
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
    // `DROP` is stored as WRITE with a flag: the old column permits no other words.
    `ALTER TABLE share ADD COLUMN note TEXT;
   ALTER TABLE share ADD COLUMN password TEXT;
   ALTER TABLE share ADD COLUMN upload_only INTEGER NOT NULL DEFAULT 0 CHECK (upload_only IN (0, 1));
   ALTER TABLE share ADD COLUMN quota_files INTEGER CHECK (quota_files >= 0);
   ALTER TABLE share ADD COLUMN quota_bytes INTEGER CHECK (quota_bytes >= 0);
   ALTER TABLE share ADD COLUMN received_files INTEGER NOT NULL DEFAULT 0 CHECK (received_files >= 0);
   ALTER TABLE share ADD COLUMN received_bytes INTEGER NOT NULL DEFAULT 0 CHECK (received_bytes >= 0);`,
    `CREATE TABLE share_upload (
     server TEXT NOT NULL,
     share TEXT NOT NULL,
     key TEXT NOT NULL,
     uid TEXT NOT NULL,
     gid TEXT,
     part TEXT NOT NULL,
     name TEXT NOT NULL,
     total INTEGER,
     files INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     target TEXT,
     kept INTEGER NOT NULL,
     holder TEXT,
     held_until INTEGER NOT NULL,
     wanted INTEGER NOT NULL,
     touched INTEGER NOT NULL,
     PRIMARY KEY (server, share, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX share_upload_unfinished ON share_upload (server, share) WHERE kept = 0;
   CREATE INDEX share_upload_target ON share_upload (server, target) WHERE kept = 0;
   CREATE INDEX share_upload_touched ON share_upload (touched);`,
    // A look is stored as a download with a flag: services of the version before know no other kinds.
    `ALTER TABLE share_use ADD COLUMN looked INTEGER CHECK (looked IN (0, 1));
   ALTER TABLE share_use ADD COLUMN version TEXT;
   ALTER TABLE share_use ADD COLUMN visitor TEXT;`,
    `ALTER TABLE share ADD COLUMN target_name TEXT;`,
  ],
};
