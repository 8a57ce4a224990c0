import { Recorder } from "../../notify/recorder.ts";
import { httpError } from "../../model/http_error.ts";
import { type Database, DatabaseFailure, type Row, type Values, type Work } from "../../store/database.ts";
import { row, rows } from "../../store/database.ts";
import { coveringPaths } from "../rules/applicable_share.ts";
import { fileArrived, shareCreated, shareEnded, shareUsed, usedUp } from "./share_events.ts";
import { newShareId, type Share, type ShareDraft, type Use, type UseStart } from "../share.ts";
import { makingColumns, number, shareColumns, termColumns, text, toShare, toUse } from "./share_row.ts";
import { PURGED_AT_A_TIME, SQL } from "./share_sql.ts";
import { UploadStore } from "./upload_store.ts";
import type { Claim, Listed, Page, Part, ShareChange, ShareStore } from "./share_store.ts";

type Statement = keyof typeof SQL;

/** Share store in a database with the share schema. */
export class DatabaseShareStore implements ShareStore {
  readonly #database: Database;
  readonly #recorder: Recorder;
  readonly uploads: UploadStore;

  /** @param recorder Records events in the transactions of the changes. */
  constructor(database: Database, recorder = Recorder.none) {
    this.#database = database;
    this.#recorder = recorder;
    this.uploads = new UploadStore(database, recorder);
  }

  put(server: string, draft: ShareDraft, most = 0): Promise<Share> {
    const recorder = this.#recorder;
    return this.#change(function* () {
      const { owner, path, target } = draft;
      const existing = yield* first("same", { server, owner, path, target });
      yield* checkOthers(server, draft, existing && number(existing, "created"));
      if (existing !== undefined) {
        const renewed = yield* share("terms", {
          server,
          id: text(existing, "id"),
          uid: draft.uid,
          gid: draft.gid ?? null,
          ...termColumns(draft),
          ...makingColumns(draft.made),
        });
        if (renewed !== undefined) {
          yield* recorder.record(shareCreated(renewed, true));
          return renewed;
        }
      }
      if (most > 0 && (yield* first("crowded", { server, owner, before: most - 1 })) !== undefined) {
        throw httpError("ERR_TOO_MANY_SHARES", { most });
      }
      if (most > 0) yield* all("forgetUsedUp", { server, owner, most });
      yield* all("supersede", { server, owner, path, target });
      const made = yield* share("insert", newColumns(server, draft));
      if (made === undefined) throw new Error("share id already taken");
      yield* recorder.record(shareCreated(made, false));
      return made;
    }, sharesOf(server));
  }

  get(server: string, id: string): Promise<Share | undefined> {
    return this.#read(() => share("get", { server, id }));
  }

  ownedBy(server: string, owner: string, part?: Part): Promise<readonly Share[]> {
    return this.#read(() => shares("ownedBy", { server, name: owner, ...bounds(part) }));
  }

  targetedAt(server: string, targets: readonly string[], part?: Part): Promise<readonly Share[]> {
    const { most = MOST_AT_ONCE } = part ?? {};
    return this.#read(function* () {
      // A query per target follows its index; one query for all would sort for each part.
      const found: Share[] = [];
      for (const given of yield* all("targets", { server, targets: JSON.stringify([...new Set(targets)]) })) {
        found.push(...yield* shares("targetedAt", { server, name: text(given, "target"), ...bounds(part) }));
      }
      return found.toSorted(byAge).slice(0, most);
    });
  }

  withPaths(server: string, paths: readonly string[], targets: readonly string[]): Promise<readonly Share[]> {
    const values = { server, paths: JSON.stringify(paths), targets: JSON.stringify(targets) };
    return this.#read(() => shares("withPaths", values));
  }

  anyWithPaths(server: string, paths: readonly string[]): Promise<boolean> {
    return this.#read(function* () {
      return (yield* first("anyWithPaths", { server, paths: JSON.stringify(paths) })) !== undefined;
    });
  }

  change(
    server: string,
    id: string,
    { path, expires, sources, note, password, mail, made }: ShareChange,
  ): Promise<Share | undefined> {
    return this.#change(function* () {
      const before = path === undefined ? undefined : yield* share("get", { server, id });
      if (path !== undefined && before !== undefined) {
        yield* checkOthers(server, { ...before, path, made: made ?? before.made }, before.created);
      }
      if (made !== undefined) yield* all("remake", { server, id, ...makingColumns(made) });
      return yield* share("change", {
        server,
        id,
        path: path ?? null,
        expires: expires ?? null,
        sources: sources === undefined ? null : JSON.stringify(sources),
        note: note ?? null,
        password: password ?? null,
        mail: mail ?? null,
      });
    }, sharesOf(server));
  }

  remove(server: string, id: string): Promise<boolean> {
    return this.#change(() => this.#remove(server, id));
  }

  removeByPath(server: string, owner: string, path: string, target: string): Promise<number> {
    const remove = (row: Row) => this.#remove(server, text(row, "id"));
    return this.#change(function* () {
      const found = yield* all("withPath", { server, owner, path, target });
      for (const row of found) yield* remove(row);
      return found.length;
    });
  }

  claim(server: string, id: string, use: UseStart): Promise<Claim | undefined> {
    const { who, address, path, kind, continues } = use;
    const recorder = this.#recorder;
    return this.#change(function* () {
      if (continues !== undefined) {
        const { version, visitor, ranged } = continues;
        const same = { server, id, who, address, path, version, visitor, ranged: Number(ranged) };
        const earlier = yield* first("continue", same);
        const found = earlier && (yield* first("get", { server, id }));
        if (earlier !== undefined && found !== undefined) return claimed(found, earlier);
      }
      const taken = (yield* all("take", { server, id })).find((row) => row.server === server);
      if (taken === undefined) return undefined;
      const share = toShare(taken);
      // A piece of an upload is given back: the file that arrives is the event.
      const events = kind === "HTTP-upload" ? [] : [shareUsed(share, use), ...usedUp(share)];
      const told = yield* recorder.record(...events);
      return claimed(taken, yield* recordUse(server, id, use), told);
    }, continues && `uses of ${id}`);
  }

  recordLook(server: string, id: string, look: UseStart): Promise<void> {
    return this.#change(function* () {
      if ((yield* first("get", { server, id })) !== undefined) yield* recordUse(server, id, look);
    });
  }

  canContinue(
    server: string,
    id: string,
    person: Parameters<ShareStore["canContinue"]>[2],
  ): Promise<boolean> {
    const { who, address, visitor, ranged } = person;
    return this.#read(function* () {
      const same = { server, id, who, address, visitor, ranged: Number(ranged) };
      return (yield* first("canContinue", same)) !== undefined;
    });
  }

  async giveBack({ share: { server, id }, use, renewals, continued, told }: Claim): Promise<void> {
    if (continued) return;
    const recorder = this.#recorder;
    await this.#change(function* () {
      const gone = yield* first("unrecord", { key: use });
      if (gone === undefined) return;
      yield* all("putBack", { server, id, renewals });
      yield* recorder.withdraw(told ?? []);
    });
  }

  finish(
    { share, use }: Claim,
    { bytes, complete, arrived = false }: Parameters<ShareStore["finish"]>[1],
  ): Promise<void> {
    const recorder = this.#recorder;
    return this.#change(function* () {
      const used = yield* first("finish", { key: use, bytes, complete: complete ? 1 : 0 });
      if (used === undefined || !arrived) return;
      yield* recorder.record(fileArrived(share, text(used, "path"), bytes), ...usedUp(share));
    });
  }

  usesOf(server: string, id: string, limit: number): Promise<readonly Use[]> {
    return this.#read(function* () {
      return (yield* all("uses", { server, id, limit })).map(toUse);
    });
  }

  page(
    { server, owner }: Listed,
    { after, most = MOST_AT_ONCE, look = most }: Parameters<ShareStore["page"]>[1] = {},
  ): Promise<Page> {
    return this.#read(function* () {
      const found: Row[] = [];
      let left = look;
      for (const name of server === undefined ? yield* servers(after?.server) : [server]) {
        const { created, id } = after?.server === name ? after : BEGINNING;
        const part = { server: name, id, most: most - found.length, look: left };
        const more = owner === undefined
          ? yield* all("listed", part)
          : yield* all("listedOf", { ...part, owner, created });
        found.push(...more);
        const [any] = more;
        if (any !== undefined) left -= number(any, "looked");
        if (left <= 0 || found.length >= most) break;
      }
      const last = left > 0 && found.length < most ? undefined : found.at(-1);
      return {
        shares: found.filter((row) => number(row, "live") === 1).map(toShare),
        next: last &&
          { server: text(last, "server"), created: number(last, "created"), id: text(last, "id") },
      };
    });
  }

  withId(id: string): Promise<readonly Share[]> {
    return this.#read(function* () {
      const found: Share[] = [];
      for (const server of yield* servers()) found.push(...yield* shares("get", { server, id }));
      return found;
    });
  }

  count(): Promise<number> {
    return this.#read(function* () {
      return number((yield* first("count", {})) ?? {}, "shares");
    });
  }

  amend(
    server: string,
    id: string,
    { owner, target, uid, gid, path }: Parameters<ShareStore["amend"]>[2],
  ): Promise<Share | undefined> {
    const to = { owner, target, uid, gid: gid ?? null, path };
    return this.#change(() => share("amend", { server, id, ...to }), sharesOf(server));
  }

  addAll(given: readonly Share[]): Promise<readonly Share[]> {
    return this.#change(function* () {
      const added: Share[] = [];
      for (const each of given) {
        if ((yield* first("insert", shareColumns(each))) !== undefined) added.push(each);
      }
      return added;
    });
  }

  async purge(): Promise<number> {
    let ended = 0;
    for (const name of ["purgeExpired", "purgeUsedUp"] as const) {
      while (this.#database.isOpen) {
        const deleted = await this.#change(() => this.#purge(name));
        ended += deleted.length;
        if (deleted.length < PURGED_AT_A_TIME) break;
        await new Promise((resolve) => setTimeout(resolve, 0)); // requests come first
      }
    }
    return ended;
  }

  close(): void {
    this.#database.close();
  }

  /** Removes a share from all servers, and records the end where it had not ended before. */
  *#remove(server: string, id: string): Work<boolean> {
    const removed = yield* shares("remove", { server, id });
    const ended = removed.filter(({ usesLeft }) => usesLeft !== 0);
    yield* this.#recorder.record(...ended.map((share) => shareEnded(share, "removed")));
    return removed.length > 0;
  }

  /** Deletes some shares; used-up ones had ended before. */
  *#purge(name: "purgeExpired" | "purgeUsedUp"): Work<readonly Row[]> {
    const deleted = yield* all(name, {});
    const expired = deleted.map(toShare).filter(({ usesLeft }) => usesLeft !== 0);
    yield* this.#recorder.record(...expired.map((share) => shareEnded(share, "expired")));
    return deleted;
  }

  /** @throws {ERR_SHARE_STORE} */
  #read<T>(work: () => Work<T>): Promise<T> {
    return this.#database.read(work).catch(refused);
  }

  /** Runs one transaction. @param alone Lock of all instances. @throws {ERR_SHARE_STORE} */
  #change<T>(work: () => Work<T>, alone?: string): Promise<T> {
    return this.#database.change(work, { alone }).catch(refused);
  }
}

function refused(error: unknown): never {
  throw error instanceof DatabaseFailure ? httpError("ERR_SHARE_STORE", error.message, error) : error;
}

function all(name: Statement, values: Values): Work<readonly Row[]> {
  return rows(SQL[name], values);
}

function first(name: Statement, values: Values): Work<Row | undefined> {
  return row(SQL[name], values);
}

function* shares(name: Statement, values: Values): Work<Share[]> {
  return (yield* all(name, values)).map(toShare);
}

function* recordUse(server: string, id: string, use: UseStart): Work<Row> {
  const { who, address, kind, path, continues: { version = null, visitor = null } = {} } = use;
  const looked = kind === "HTTP-look";
  const record = yield* first("record", {
    ...{ server, id, who, address, path, version, visitor },
    kind: looked ? "HTTP-download" : kind,
    looked: looked ? 1 : null,
  });
  yield* all("trimUses", { server, id });
  return record ?? {};
}

/** @param told Absent if it continues an earlier use. */
function claimed(share: Row, use: Row, told?: readonly string[]): Claim {
  const renewals = number(share, "renewals");
  return { share: toShare(share), use: number(use, "key"), renewals, continued: told === undefined, told };
}

/** Lock for changes that check other shares of the server. */
function sharesOf(server: string): string {
  return `shares of ${server}`;
}

/** A statement can return the share's rows of other servers. */
function* share(name: Statement, values: Values): Work<Share | undefined> {
  return (yield* shares(name, values)).find(({ server }) => server === values.server);
}

/** Returns the servers with shares, sorted, from `first` on. */
function* servers(first = ""): Work<string[]> {
  return (yield* all("servers", { first })).map((row) => text(row, "server"));
}

/** @param before Ignores shares created later. */
function* checkOthers(
  server: string,
  { owner, path, target, made }: ShareDraft,
  before = Number.MAX_SAFE_INTEGER,
): Work<void> {
  if (made?.atHome) return;
  const others = { server, owner, path, target, before };
  const above = yield* first("above", { ...others, paths: JSON.stringify(coveringPaths(path)) });
  // `0` follows `/`, so this range holds all paths below the directory.
  const below = path.endsWith("/")
    ? yield* first("below", { ...others, end: `${path.slice(0, -1)}0` })
    : undefined;
  if (above !== undefined || below !== undefined) throw httpError("ERR_SHARED_BY_ANOTHER");
}

/** Uses the clock of the database. */
function newColumns(server: string, draft: ShareDraft): Values {
  const columns = shareColumns({ ...draft, server, id: newShareId(), accessCount: 0, created: 0 });
  return { ...columns, created: null };
}

const MOST_AT_ONCE = 1000;

const BEGINNING = { created: Number.MIN_SAFE_INTEGER, id: "" };

function bounds({ after = BEGINNING, most = MOST_AT_ONCE }: Part = {}): Values {
  return { created: after.created, id: after.id, most };
}

/** In the order of the statements. */
function byAge(a: Share, b: Share): number {
  return a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id));
}
