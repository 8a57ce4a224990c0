import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parseAccessLevel } from "../access_level.ts";
import type { Clock } from "../../model/clock.ts";
import type { Share, ShareDraft, ShareTerms, Use, UseKind, UseStart } from "../share.ts";
import { newShareId } from "../share_id.ts";
import { migrate } from "./schema.ts";
import type { Claim, ShareChange, ShareStore } from "./share_store.ts";

/** How long a used up share, with its record of uses, stays readable for its owner: 30 days. */
const KEEP_USED_UP_MS = 30 * 24 * 3600 * 1000;

/** Use records kept per share; older ones go first. */
const KEEP_USES = 1000;

/** Milliseconds to wait for the lock of another process, such as the operator's command or a core being replaced. */
const LOCK_WAIT_MS = 5000;

/** Statements by name; all values are bound. `:now` is in seconds. */
const SQL = {
  insert:
    `INSERT INTO share (server, id, path, owner, target, uid, gid, access, one_time, uses_left, expires, sources,
       access_count, created)
     VALUES (:server, :id, :path, :owner, :target, :uid, :gid, :access, :oneTime, :usesLeft, :expires, :sources,
       :accessCount, :created)
     ON CONFLICT DO NOTHING RETURNING *`,
  same: `SELECT id FROM share WHERE server = :server AND owner = :owner AND path = :path AND target = :target
     AND uses_left IS NOT 0 AND (expires = 0 OR expires >= :now) ORDER BY created LIMIT 1`,
  terms:
    `UPDATE share SET path = :path, access = :access, one_time = :oneTime, uses_left = :usesLeft, expires = :expires,
       sources = :sources
     WHERE server = :server AND id = :id AND (expires = 0 OR expires >= :now) RETURNING *`,
  change: `UPDATE share SET path = ifnull(:path, path), expires = ifnull(:expires, expires),
       sources = ifnull(:sources, sources)
     WHERE server = :server AND id = :id AND (expires = 0 OR expires >= :now) RETURNING *`,
  get: `SELECT * FROM share WHERE server = :server AND id = :id AND (expires = 0 OR expires >= :now)`,
  ownedBy: `SELECT * FROM share WHERE server = :server AND owner = :name
     AND uses_left IS NOT 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id`,
  targetedAt: `SELECT * FROM share WHERE server = :server AND target = :name
     AND uses_left IS NOT 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id`,
  withPaths: `SELECT * FROM share WHERE server = :server AND path IN (SELECT value FROM json_each(:paths))
     AND uses_left IS NOT 0 AND (expires = 0 OR expires >= :now) ORDER BY created, id`,
  all: `SELECT * FROM share WHERE (:server IS NULL OR server = :server)
     AND (expires = 0 OR expires >= :now) ORDER BY server, created, id`,
  remove: `DELETE FROM share WHERE server = :server AND id = :id`,
  removeByPath:
    `DELETE FROM share WHERE server = :server AND owner = :owner AND path = :path AND target = :target`,
  changeOwner: `UPDATE share SET owner = :owner, uid = :uid, gid = :gid
     WHERE server = :server AND id = :id AND (expires = 0 OR expires >= :now) RETURNING *`,
  take: `UPDATE share SET uses_left = uses_left - 1, access_count = access_count + 1, last_used = :now
     WHERE server = :server AND id = :id AND uses_left IS NOT 0 AND (expires = 0 OR expires >= :now) RETURNING *`,
  putBack: `UPDATE share SET uses_left = uses_left + 1, access_count = access_count - 1
     WHERE server = :server AND id = :id`,
  record: `INSERT INTO share_use (server, id, at, who, address, kind, path)
     VALUES (:server, :id, :at, :who, :address, :kind, :path) RETURNING key`,
  trimUses: `DELETE FROM share_use WHERE key <= (SELECT key FROM share_use WHERE server = :server AND id = :id
     ORDER BY key DESC LIMIT 1 OFFSET ${KEEP_USES}) AND server = :server AND id = :id`,
  unrecord: `DELETE FROM share_use WHERE key = :key`,
  finish: `UPDATE share_use SET bytes = :bytes, complete = :complete WHERE key = :key`,
  uses: `SELECT * FROM share_use WHERE server = :server AND id = :id ORDER BY key DESC LIMIT :limit`,
  purge:
    `DELETE FROM share WHERE (expires > 0 AND expires < :now) OR (uses_left = 0 AND last_used < :usedUp)`,
} as const;

/**
 * Opens the share store in an SQLite file, which is made if it is not there.
 * Write-ahead log with full synchronisation: what was acknowledged survives a killed process and a power cut.
 * @throws {UnknownDatabase} If the file is not ours, or newer than this service.
 */
export function openShareStore(file: string, clock: Clock): ShareStore {
  // Ids are secrets: the file, and with it the log that SQLite puts beside it, is for the service's account only.
  Deno.openSync(file, { create: true, write: true, mode: 0o600 }).close();
  const database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS, enableForeignKeyConstraints: true });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
    migrate(database, file);
    return new SqliteShareStore(database, clock);
  } catch (error) {
    database.close();
    throw error;
  }
}

type Row = Record<string, unknown>;
type Values = Record<string, string | number | null>;

class SqliteShareStore implements ShareStore {
  readonly #statements = new Map<string, StatementSync>();

  constructor(readonly database: DatabaseSync, readonly clock: Clock) {}

  put(server: string, draft: ShareDraft): Promise<Share> {
    return this.#change(() => {
      const { owner, path, target } = draft;
      const existing = this.#row("same", { server, owner, path, target, now: this.#now() });
      if (existing !== undefined) {
        const row = this.#row("terms", {
          server,
          id: text(existing, "id"),
          now: this.#now(),
          ...terms(draft),
        });
        if (row !== undefined) return toShare(row);
      }
      return this.#insert({ ...draft, server, id: newShareId(), accessCount: 0, created: this.clock() });
    });
  }

  get(server: string, id: string): Promise<Share | undefined> {
    return this.#read(() => this.#share("get", { server, id, now: this.#now() }));
  }

  ownedBy(server: string, owner: string): Promise<readonly Share[]> {
    return this.#read(() => this.#shares("ownedBy", { server, name: owner, now: this.#now() }));
  }

  targetedAt(server: string, target: string): Promise<readonly Share[]> {
    return this.#read(() => this.#shares("targetedAt", { server, name: target, now: this.#now() }));
  }

  withPaths(server: string, paths: readonly string[]): Promise<readonly Share[]> {
    return this.#read(() =>
      this.#shares("withPaths", { server, paths: JSON.stringify(paths), now: this.#now() })
    );
  }

  change(server: string, id: string, { path, expires, sources }: ShareChange): Promise<Share | undefined> {
    return this.#change(() =>
      this.#share("change", {
        server,
        id,
        now: this.#now(),
        path: path ?? null,
        expires: expires ?? null,
        sources: sources === undefined ? null : JSON.stringify(sources),
      })
    );
  }

  remove(server: string, id: string): Promise<boolean> {
    return this.#change(() => this.#run("remove", { server, id }) > 0);
  }

  removeByPath(server: string, owner: string, path: string, target: string): Promise<number> {
    return this.#change(() => this.#run("removeByPath", { server, owner, path, target }));
  }

  claim(server: string, id: string, use: UseStart): Promise<Claim | undefined> {
    return this.#change(() => {
      const share = this.#share("take", { server, id, now: this.#now() });
      if (share === undefined) return undefined;
      const { who, address, kind, path } = use;
      const record = this.#row("record", { server, id, at: this.clock(), who, address, kind, path });
      this.#run("trimUses", { server, id });
      return { share, use: number(record ?? {}, "key") };
    });
  }

  giveBack({ share: { server, id }, use }: Claim): Promise<void> {
    return this.#change(() => {
      if (this.#run("unrecord", { key: use }) > 0) this.#run("putBack", { server, id });
    });
  }

  finish({ use }: Claim, { bytes, complete }: { bytes: number; complete: boolean }): Promise<void> {
    return this.#change(() => {
      this.#run("finish", { key: use, bytes, complete: complete ? 1 : 0 });
    });
  }

  usesOf(server: string, id: string, limit: number): Promise<readonly Use[]> {
    return this.#read(() => this.#rows("uses", { server, id, limit }).map(toUse));
  }

  all(server?: string): Promise<readonly Share[]> {
    return this.#read(() => this.#shares("all", { server: server ?? null, now: this.#now() }));
  }

  changeOwner(
    server: string,
    id: string,
    { owner, uid, gid }: { owner: string; uid: string; gid?: string },
  ): Promise<Share | undefined> {
    return this.#change(() =>
      this.#share("changeOwner", { server, id, owner, uid, gid: gid ?? null, now: this.#now() })
    );
  }

  add(share: Share): Promise<boolean> {
    return this.#change(() => this.#share("insert", fields(share)) !== undefined);
  }

  purge(): Promise<number> {
    return this.#change(() =>
      this.#run("purge", { now: this.#now(), usedUp: this.#now() - KEEP_USED_UP_MS / 1000 })
    );
  }

  close(): void {
    this.database.close();
  }

  #insert(share: Share): Share {
    const stored = this.#share("insert", fields(share));
    if (stored === undefined) throw new Error("share id already taken");
    return stored;
  }

  /** Seconds, rounded down: a share that ends at second `s` is usable up to the last millisecond before `s + 1`. */
  #now(): number {
    return Math.floor(this.clock() / 1000);
  }

  #read<T>(action: () => T): Promise<T> {
    return new Promise((resolve) => resolve(action()));
  }

  /** One transaction, which holds the write lock from its start. */
  #change<T>(action: () => T): Promise<T> {
    return this.#read(() => {
      this.database.exec("BEGIN IMMEDIATE");
      try {
        const result = action();
        this.database.exec("COMMIT");
        return result;
      } catch (error) {
        if (this.database.isTransaction) this.database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #statement(name: keyof typeof SQL): StatementSync {
    const known = this.#statements.get(name);
    if (known !== undefined) return known;
    const statement = this.database.prepare(SQL[name]);
    this.#statements.set(name, statement);
    return statement;
  }

  #run(name: keyof typeof SQL, values: Values): number {
    return Number(this.#statement(name).run(checked(values)).changes);
  }

  #rows(name: keyof typeof SQL, values: Values): Row[] {
    return this.#statement(name).all(checked(values));
  }

  #row(name: keyof typeof SQL, values: Values): Row | undefined {
    return this.#rows(name, values)[0];
  }

  #share(name: keyof typeof SQL, values: Values): Share | undefined {
    return this.#shares(name, values)[0];
  }

  #shares(name: keyof typeof SQL, values: Values): Share[] {
    return this.#rows(name, values).map(toShare);
  }
}

/** `node:sqlite` reads text only up to the first NUL, so that a path could come back as another one: there are none. */
function checked(values: Values): Values {
  for (const value of Object.values(values)) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new TypeError("NUL in a value for the share store");
    }
  }
  return values;
}

function terms({ path, access, expires, oneTime, usesLeft, sources }: ShareTerms): Values {
  const left = oneTime ? Math.min(1, usesLeft ?? 1) : usesLeft ?? null;
  return {
    path,
    access,
    expires,
    oneTime: oneTime ? 1 : 0,
    usesLeft: left,
    sources: JSON.stringify(sources),
  };
}

function fields(share: Share): Values {
  const { server, id, owner, target, uid, gid, accessCount, created } = share;
  return { server, id, owner, target, uid, gid: gid ?? null, accessCount, created, ...terms(share) };
}

function toShare(row: Row): Share {
  const access = parseAccessLevel(text(row, "access"));
  if (access === undefined || access === "NONE") throw new TypeError("share with an unknown access level");
  const sources: unknown = JSON.parse(text(row, "sources"));
  if (!Array.isArray(sources) || !sources.every((s) => typeof s === "string")) {
    throw new TypeError("share with an unreadable source list");
  }
  return {
    server: text(row, "server"),
    id: text(row, "id"),
    path: text(row, "path"),
    owner: text(row, "owner"),
    target: text(row, "target"),
    uid: text(row, "uid"),
    gid: row.gid === null ? undefined : text(row, "gid"),
    access,
    oneTime: number(row, "one_time") === 1,
    usesLeft: row.uses_left === null ? undefined : number(row, "uses_left"),
    expires: number(row, "expires"),
    sources,
    accessCount: number(row, "access_count"),
    created: number(row, "created"),
  };
}

function toUse(row: Row): Use {
  return {
    at: number(row, "at"),
    who: text(row, "who"),
    address: text(row, "address"),
    kind: useKind(text(row, "kind")),
    path: text(row, "path"),
    bytes: row.bytes === null ? undefined : number(row, "bytes"),
    complete: row.complete === null ? undefined : number(row, "complete") === 1,
  };
}

function useKind(word: string): UseKind {
  if (word === "HTTP-download" || word === "HTTP-upload" || word === "UFTP") return word;
  throw new TypeError("share use of an unknown kind");
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`share database: ${column} is not text`);
  return value;
}

function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`share database: ${column} is not a number`);
  return value;
}
