/** Bans and failed logins, unlogged. Names and addresses are digests: people type passwords into the wrong field. */
export const THROTTLING_TABLES = `
  CREATE TABLE operator_ban (
    who_user TEXT NOT NULL,
    who_address TEXT NOT NULL,
    names TEXT NOT NULL,
    ends BIGINT NOT NULL,
    PRIMARY KEY (who_user, who_address)
  );
  CREATE TABLE operator_lift (
    id TEXT PRIMARY KEY,
    who_user TEXT NOT NULL,
    who_address TEXT NOT NULL,
    ends BIGINT NOT NULL
  );
  CREATE UNLOGGED TABLE failed_login (
    counted TEXT NOT NULL,
    name TEXT NOT NULL,
    who_user TEXT NOT NULL,
    who_address TEXT NOT NULL,
    failures BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    PRIMARY KEY (counted, name)
  );
  CREATE INDEX failed_login_by_user ON failed_login (who_user);
  CREATE INDEX failed_login_by_address ON failed_login (who_address);
  CREATE INDEX failed_login_by_end ON failed_login (ends);
  CREATE UNLOGGED TABLE known_login (
    name TEXT PRIMARY KEY,
    seen BIGINT NOT NULL
  );
  CREATE INDEX known_login_by_time ON known_login (seen);`;

/** Write time of a known login, which may be long after the login; others poll by it. */
export const KNOWN_LOGIN_TOLD = `
  ALTER TABLE known_login ADD COLUMN told BIGINT NOT NULL DEFAULT 0;
  CREATE INDEX known_login_by_telling ON known_login (told);`;

/** Instances; unlogged, since they register again. */
export const INSTANCE_TABLES = `
  CREATE UNLOGGED TABLE instance (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    configuration TEXT NOT NULL,
    up_since BIGINT NOT NULL,
    seen BIGINT NOT NULL
  );`;

/** Times in milliseconds since the epoch, accounts as a JSON list. */
export const RESERVATION_TABLES = `
  CREATE TABLE reservation (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    starts BIGINT NOT NULL,
    ends BIGINT NOT NULL CHECK (starts < ends),
    uids TEXT NOT NULL,
    rate_limit BIGINT NOT NULL CHECK (rate_limit >= 0),
    limit_text TEXT NOT NULL
  );
  CREATE INDEX reservation_by_name ON reservation (server, name);
  CREATE INDEX reservation_by_end ON reservation (ends);`;

/** Marks that instances hold for seconds or minutes; unlogged, see `SharedMarks`. */
export const MARK_TABLES = `
  CREATE UNLOGGED TABLE shared_mark (
    mark TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    ends BIGINT NOT NULL
  );
  CREATE INDEX shared_mark_by_end ON shared_mark (ends);`;

/** Finds expired orders of operators. */
export const ORDERS_BY_END = `
  CREATE INDEX operator_ban_by_end ON operator_ban (ends);
  CREATE INDEX operator_lift_by_end ON operator_lift (ends);`;

/** Transaction that wrote a revocation: others read what was written since their last snapshot. */
export const REVOCATION_ORDER = `
  ALTER TABLE record ADD COLUMN written BIGINT;
  CREATE INDEX record_revoked_since ON record (written) WHERE kind LIKE 'revoked-%';
  CREATE FUNCTION order_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.written = txid_current(); RETURN NEW; END $$;
  CREATE TRIGGER record_ordered BEFORE INSERT OR UPDATE ON record
    FOR EACH ROW WHEN (NEW.kind LIKE 'revoked-%') EXECUTE FUNCTION order_revocation();`;

/** Uploads to shares; see `UploadStore`. */
export const UPLOAD_TABLES = `
  CREATE TABLE share_upload (
    server text COLLATE "C" NOT NULL,
    share text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    uid text NOT NULL,
    gid text,
    part text NOT NULL,
    name text NOT NULL,
    total bigint,
    files bigint NOT NULL,
    bytes bigint NOT NULL,
    target text COLLATE "C",
    kept integer NOT NULL,
    holder text,
    held_until bigint NOT NULL,
    wanted integer NOT NULL,
    touched bigint NOT NULL,
    PRIMARY KEY (server, share, key)
  );
  CREATE INDEX share_upload_unfinished ON share_upload (server, share) WHERE kept = 0;
  CREATE INDEX share_upload_target ON share_upload (server, target) WHERE kept = 0;
  CREATE INDEX share_upload_touched ON share_upload (touched);`;
