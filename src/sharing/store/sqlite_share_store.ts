import type { Clock } from "../../model/clock.ts";
import { refuse } from "../../model/service_error.ts";
import { isOfDatabase, type Row, SqliteDatabase, type Values } from "../../store/sqlite_database.ts";
import type { Share, ShareDraft, Use, UseStart } from "../share.ts";
import { coveringPaths } from "../rules/applicable_share.ts";
import { newShareId } from "../share_id.ts";
import { type Claim, type Part, type ShareChange, type ShareStore } from "./share_store.ts";
import { SHARE_SCHEMA } from "./schema.ts";
import { makingColumns, number, shareColumns, termColumns, text, toShare, toUse } from "./share_row.ts";
import { PURGED_AT_A_TIME, SQL } from "./share_sql.ts";

/** How long a used up share, with its record of uses, stays readable for its owner: 30 days. */
const KEEP_USED_UP_MS = 30 * 24 * 3600 * 1000;

/**
 * Opens the share store in an SQLite file, which is made if it is not there.
 * @throws {UnknownDatabase} If the file is not ours, or newer than this service.
 */
export function openShareStore(file: string, clock: Clock): ShareStore {
  return new SqliteShareStore(new SqliteDatabase(file, SHARE_SCHEMA), clock);
}

class SqliteShareStore implements ShareStore {
  constructor(readonly database: SqliteDatabase, readonly clock: Clock) {}

  put(server: string, draft: ShareDraft, most = 0): Promise<Share> {
    return this.#change(() => {
      const { owner, path, target } = draft;
      const existing = this.#row("same", { server, owner, path, target, now: this.#now() });
      this.#checkOthers(
        server,
        draft,
        existing === undefined ? Number.MAX_SAFE_INTEGER : number(existing, "created"),
      );
      if (existing !== undefined) {
        const row = this.#row("terms", {
          server,
          id: text(existing, "id"),
          now: this.#now(),
          uid: draft.uid,
          gid: draft.gid ?? null,
          ...termColumns(draft),
          ...makingColumns(draft.made),
        });
        if (row !== undefined) return toShare(row);
      }
      if (
        most > 0 && this.#row("crowded", { server, owner, now: this.#now(), before: most - 1 }) !== undefined
      ) {
        throw refuse("ERR_TOO_MANY_SHARES", { most });
      }
      this.#run("supersede", { server, owner, path, target });
      return this.#insert({ ...draft, server, id: newShareId(), accessCount: 0, created: this.clock() });
    });
  }

  get(server: string, id: string): Promise<Share | undefined> {
    return this.#read(() => this.#share("get", { server, id, now: this.#now() }));
  }

  ownedBy(server: string, owner: string, part?: Part): Promise<readonly Share[]> {
    return this.#read(() => this.#part("ownedBy", server, owner, part));
  }

  targetedAt(server: string, target: string, part?: Part): Promise<readonly Share[]> {
    return this.#read(() => this.#part("targetedAt", server, target, part));
  }

  withPaths(server: string, paths: readonly string[], target: string): Promise<readonly Share[]> {
    return this.#read(() =>
      this.#shares("withPaths", { server, paths: JSON.stringify(paths), target, now: this.#now() })
    );
  }

  anyWithPaths(server: string, paths: readonly string[]): Promise<boolean> {
    return this.#read(() =>
      this.#row("anyWithPaths", { server, paths: JSON.stringify(paths), now: this.#now() }) !== undefined
    );
  }

  change(
    server: string,
    id: string,
    { path, expires, sources, made }: ShareChange,
  ): Promise<Share | undefined> {
    return this.#change(() => {
      const now = this.#now();
      const before = path === undefined ? undefined : this.#share("get", { server, id, now });
      if (path !== undefined && before !== undefined) {
        this.#checkOthers(server, { ...before, path, made: made ?? before.made }, before.created);
      }
      if (made !== undefined) this.#share("remake", { server, id, now, ...makingColumns(made) });
      return this.#share("change", {
        server,
        id,
        now,
        path: path ?? null,
        expires: expires ?? null,
        sources: sources === undefined ? null : JSON.stringify(sources),
      });
    });
  }

  remove(server: string, id: string): Promise<boolean> {
    return this.#change(() => this.#run("remove", { server, id }) > 0);
  }

  removeByPath(server: string, owner: string, path: string, target: string): Promise<number> {
    return this.#change(() => this.#run("removeByPath", { server, owner, path, target }));
  }

  claim(server: string, id: string, use: UseStart): Promise<Claim | undefined> {
    return this.#change(() => {
      const row = this.#row("take", { server, id, now: this.#now() });
      if (row === undefined) return undefined;
      const { who, address, kind, path } = use;
      const record = this.#row("record", { server, id, at: this.clock(), who, address, kind, path });
      this.#run("trimUses", { server, id });
      return { share: toShare(row), use: number(record ?? {}, "key"), renewals: number(row, "renewals") };
    });
  }

  giveBack({ share: { server, id }, use, renewals }: Claim): Promise<void> {
    return this.#change(() => {
      if (this.#run("unrecord", { key: use }) > 0) this.#run("putBack", { server, id, renewals });
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

  count(): Promise<number> {
    return this.#read(() => number(this.#row("count", { now: this.#now() }) ?? {}, "shares"));
  }

  amend(
    server: string,
    id: string,
    { owner, target, uid, gid, path }: Parameters<ShareStore["amend"]>[2],
  ): Promise<Share | undefined> {
    return this.#change(() =>
      this.#share("amend", { server, id, owner, target, uid, gid: gid ?? null, path, now: this.#now() })
    );
  }

  add(share: Share): Promise<boolean> {
    return this.#change(() => this.#share("insert", shareColumns(share)) !== undefined);
  }

  async purge(): Promise<number> {
    let all = 0;
    while (this.database.isOpen) {
      const now = this.#now();
      const deleted = await this.#change(() =>
        this.#run("purge", { now, usedUp: now - KEEP_USED_UP_MS / 1000 })
      );
      all += deleted;
      if (deleted < PURGED_AT_A_TIME) break;
      await new Promise((resolve) => setTimeout(resolve, 0)); // requests come first
    }
    return all;
  }

  close(): void {
    this.database.close();
  }

  /** @param before Shares that were made later are not in the way. */
  #checkOthers(server: string, { owner, path, target, made }: ShareDraft, before: number): void {
    if (made?.atHome) return;
    const others = { server, owner, path, target, before, now: this.#now() };
    const above = this.#row("above", { ...others, paths: JSON.stringify(coveringPaths(path)) });
    // What begins with `/d/` stands before `/d0`, as the slash comes before the zero.
    const below = path.endsWith("/")
      ? this.#row("below", { ...others, end: `${path.slice(0, -1)}0` })
      : undefined;
    if (above !== undefined || below !== undefined) throw refuse("ERR_SHARED_BY_ANOTHER");
  }

  #insert(share: Share): Share {
    const stored = this.#share("insert", shareColumns(share));
    if (stored === undefined) throw new Error("share id already taken");
    return stored;
  }

  /** Seconds, rounded down: a share that ends at second `s` is usable up to the last millisecond before `s + 1`. */
  #now(): number {
    return Math.floor(this.clock() / 1000);
  }

  /** @throws {ERR_SHARE_STORE} If the database cannot do it. */
  #read<T>(action: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      try {
        resolve(action());
      } catch (error) {
        reject(isOfDatabase(error) ? refuse("ERR_SHARE_STORE", error.message, error) : error);
      }
    });
  }

  /** One transaction. */
  #change<T>(action: () => T): Promise<T> {
    return this.#read(() => this.database.change(action));
  }

  #run(name: keyof typeof SQL, values: Values): number {
    return this.database.run(SQL[name], values);
  }

  #part(
    list: "ownedBy" | "targetedAt",
    server: string,
    name: string,
    { after = { created: Number.MIN_SAFE_INTEGER, id: "" }, most = 1000 }: Part = {},
  ): Share[] {
    const { created, id } = after;
    return this.#shares(list, { server, name, created, id, most, now: this.#now() });
  }

  #rows(name: keyof typeof SQL, values: Values): Row[] {
    return this.database.rows(SQL[name], values);
  }

  #row(name: keyof typeof SQL, values: Values): Row | undefined {
    return this.database.row(SQL[name], values);
  }

  #share(name: keyof typeof SQL, values: Values): Share | undefined {
    return this.#shares(name, values)[0];
  }

  #shares(name: keyof typeof SQL, values: Values): Share[] {
    return this.#rows(name, values).map(toShare);
  }
}
