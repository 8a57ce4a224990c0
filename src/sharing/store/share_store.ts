import { httpError } from "../../model/http_error.ts";
import { Recorder } from "../../notify/recorder.ts";
import type { ChangeOptions, Database, Row, SqlSteps, Values } from "../../store/database.ts";
import { rows } from "../../store/database.ts";
import { coveringPaths } from "../rules/applicable_share.ts";
import {
  type Continuation,
  type CreationRights,
  newShareId,
  type Share,
  type ShareDraft,
  type ShareTerms,
  type Use,
  type UseStart,
} from "../share.ts";
import { creationColumns, number, shareColumns, termColumns, text, toShare, toUse } from "./share_row.ts";
import { first, PURGE_BATCH, rethrow, SQL, TRIM_INTERVAL } from "./share_sql.ts";
import { UploadStore } from "./upload_store.ts";
import type { Sink } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import { SqliteDatabase } from "../../store/sqlite_database.ts";
import { SHARE_SCHEMA } from "./schema.ts";
import { fileArrived, shareCreated, shareEnded, shareUsed, usedUp } from "./share_events.ts";

/** Reserved use of a share, to be finished or given back. */
interface Claim {
  readonly share: Share; // after the reservation
  readonly use: number; // key of the use record
  readonly renewals: number; // renewals of the terms: a use of earlier terms is not given back to later ones
  readonly continued: boolean; // whether it continues an earlier use, which stays taken
  readonly notifications: readonly string[] | undefined; // recorded ones
}

/** Change of a share; an empty note, password or mail address removes it. */
export type ShareChange =
  & Partial<Pick<ShareTerms, "path" | "expires" | "sources" | "note" | "password" | "mail">>
  & { readonly made?: CreationRights }; // owner's current rights, for a new path

interface Part {
  readonly after?: Pick<Share, "created" | "id">; // preceding share
  readonly most?: number; // default 1000
}

/** Filter of a list; absent members match all. */
export interface Listed {
  readonly server?: string;
  readonly owner?: string; // canonical DN
}

/** Position after a share in a list. */
export type Place = Pick<Share, "server" | "created" | "id">;

/** Page of a list, ordered by server and id, or for one owner by server and age. */
export interface Page {
  readonly shares: readonly Share[];
  readonly next?: Place; // start of the next page
}

type Statement = keyof typeof SQL;

/** Shares of all servers. Each change is one transaction. Names are canonical DNs. Expired shares are invisible. */
export class ShareStore {
  readonly uploads: UploadStore;

  /** @param recorder Records events in the transactions of the changes. */
  constructor(readonly database: Database, readonly recorder = Recorder.none) {
    this.uploads = new UploadStore(database, recorder);
  }

  /**
   * Adds a share, or renews the owner's live share of exactly this path and target (rest-api.md 2.3), which keeps id,
   * account and access count.
   * @param most Usable shares per owner and server; 0 is unlimited. As many used-up shares stay readable.
   * @throws {ERR_SHARED_BY_ANOTHER} If it would intercept users of another owner's earlier share, unless in its owner's home.
   * @throws {ERR_TOO_MANY_SHARES}
   */
  put(server: string, draft: ShareDraft, most = 0): Promise<Share> {
    const { recorder } = this;
    return this.#change(function* () {
      const { owner, path, target } = draft;
      const existing = yield* first("same", { server, owner, path, target });
      yield* checkOthers(server, draft, existing && number(existing, "created"));
      if (existing !== undefined) {
        yield* first("lock", { server, id: text(existing, "id") }); // since the next statement counts its uploads
        const renewed = yield* share("terms", {
          server,
          id: text(existing, "id"),
          uid: draft.uid,
          gid: draft.gid ?? null,
          ...termColumns(draft),
          ...creationColumns(draft.made),
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
      const fresh = shareColumns({ ...draft, server, id: newShareId(), accessCount: 0, created: 0 });
      const made = yield* share("insert", { ...fresh, created: null }); // by the clock of the database
      if (made === undefined) throw new Error("share id already taken");
      yield* recorder.record(shareCreated(made, false));
      return made;
    }, { lock: sharesOf(server) });
  }

  /** Includes used-up shares. */
  get(server: string, id: string): Promise<Share | undefined> {
    return this.#read(() => share("get", { server, id }));
  }

  /** Returns an owner's usable shares, oldest first. */
  ownedBy(server: string, owner: string, part?: Part): Promise<readonly Share[]> {
    return this.#read(() => shares("ownedBy", { server, name: owner, ...bounds(part) }));
  }

  /** Returns usable shares with one of these targets, oldest first. */
  targetedAt(server: string, targets: readonly string[], part?: Part): Promise<readonly Share[]> {
    const { most = MAX_PAGE } = part ?? {};
    return this.#read(function* () {
      // A query per target follows its index; one query for all would sort for each part.
      const found: Share[] = [];
      for (const given of yield* all("targets", { server, targets: JSON.stringify([...new Set(targets)]) })) {
        found.push(...yield* shares("targetedAt", { server, name: text(given, "target"), ...bounds(part) }));
      }
      found.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : Number(a.id > b.id)));
      return found.slice(0, most);
    });
  }

  /** Returns the first 1000 usable shares with one of these paths and one of these targets. */
  withPaths(server: string, paths: readonly string[], targets: readonly string[]): Promise<readonly Share[]> {
    const values = { server, paths: JSON.stringify(paths), targets: JSON.stringify(targets) };
    return this.#read(() => shares("withPaths", values));
  }

  anyWithPaths(server: string, paths: readonly string[]): Promise<boolean> {
    return this.#read(function* () {
      return (yield* first("anyWithPaths", { server, paths: JSON.stringify(paths) })) !== undefined;
    });
  }

  /** Changes a share but not its uses; undefined if it does not exist. @throws {ERR_SHARED_BY_ANOTHER} As {@link put}, for a new path. */
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
      if (made !== undefined) yield* all("setRights", { server, id, ...creationColumns(made) });
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
    }, { lock: sharesOf(server) });
  }

  /** Removes a share with its use records. @returns Whether it existed. */
  remove(server: string, id: string): Promise<boolean> {
    return this.#change(() => this.#remove(server, id));
  }

  /** Removes the owner's shares of exactly this path and target. @returns Their number. */
  removeByPath(server: string, owner: string, path: string, target: string): Promise<number> {
    const remove = (row: Row) => this.#remove(server, text(row, "id"));
    return this.#change(function* () {
      const found = yield* all("withPath", { server, owner, path, target });
      for (const row of found) yield* remove(row);
      return found.length;
    });
  }

  /**
   * Records a use, or continues one of the same person in the last hour; undefined if the share is unknown or over.
   * @param options.also Work in the transaction of a new use.
   */
  claim(
    server: string,
    id: string,
    use: UseStart,
    { also, ...options }: ChangeOptions & { readonly also?: (() => SqlSteps<void>) | undefined } = {},
  ): Promise<Claim | undefined> {
    const { who, address, path, kind, continues } = use;
    const { recorder } = this;
    return this.#change(function* () {
      if (continues !== undefined) {
        const { version, visitor, ranged } = continues;
        const same = { server, id, who, address, path, version, visitor, ranged: Number(ranged) };
        const earlier = yield* first("continue", same);
        const found = earlier && (yield* first("get", { server, id }));
        if (earlier !== undefined && found !== undefined) return claimed(found, earlier);
      }
      const everywhere = yield* all("take", { server, id });
      const taken = everywhere.find((row) => row.server === server);
      if (taken === undefined) return undefined;
      const claim = claimed(taken, yield* recordUse(server, id, use), []);
      const { share, share: { accessCount } } = claim;
      const trimmed = accessCount % TRIM_INTERVAL === 0 ? everywhere : [];
      for (const row of trimmed) yield* all("trimUses", { server: text(row, "server"), id });
      if (also !== undefined) yield* also();
      // The use of an upload piece is given back later; the event is the arrival of the file.
      const events = kind === "HTTP-upload" ? [] : [shareUsed(share, use), ...usedUp(share)];
      return { ...claim, notifications: yield* recorder.record(...events) };
    }, { lock: continues && `uses of ${id}`, ...options });
  }

  /** Records that a person looked at a page of the share, which takes no use. */
  recordView(server: string, id: string, view: UseStart): Promise<void> {
    return this.#change(function* () {
      if ((yield* first("get", { server, id })) !== undefined) yield* recordUse(server, id, view);
    });
  }

  /** Reports whether the person downloaded from the share in the last hour and could continue. */
  canContinue(
    server: string,
    id: string,
    person: Pick<UseStart, "who" | "address"> & Omit<Continuation, "version">,
  ): Promise<boolean> {
    const { who, address, visitor, ranged } = person;
    return this.#read(function* () {
      const same = { server, id, who, address, visitor, ranged: Number(ranged) };
      return (yield* first("canContinue", same)) !== undefined;
    });
  }

  /** Undoes a reservation and its record, unless the share was renewed or the use continued since. */
  async release({ share: { server, id }, use, renewals, continued, notifications }: Claim): Promise<void> {
    if (continued) return;
    const { recorder } = this;
    await this.#change(function* () {
      if ((yield* first("deleteUse", { key: use })) === undefined) return;
      yield* all("restoreUse", { server, id, renewals });
      yield* recorder.withdraw(notifications ?? []);
    });
  }

  /** @param result.arrived Whether a file was uploaded in place. @param also Work in the transaction that ends the use. */
  finish(
    { share, use }: Claim,
    { bytes, complete, arrived }: { bytes: number; complete: boolean; arrived?: boolean },
    also?: () => SqlSteps<void>,
  ): Promise<void> {
    const { recorder } = this;
    return this.#change(function* () {
      if (also !== undefined) yield* also();
      if (arrived && recorder.isActive) yield* first("lock", { server: share.server, id: share.id });
      const used = yield* first("finish", { key: use, bytes, complete: complete ? 1 : 0 });
      if (used === undefined || !arrived) return;
      yield* recorder.record(fileArrived(share, text(used, "path"), bytes), ...usedUp(share));
    }, { asyncCommit: !arrived });
  }

  usesOf(server: string, id: string, limit: number): Promise<readonly Use[]> {
    return this.#read(function* () {
      return (yield* all("uses", { server, id, limit })).map(toUse);
    });
  }

  /** Returns a page of unexpired shares; it can be empty with more to come. @param part.scan Shares to read. */
  page(
    { server, owner }: Listed,
    { after, most, scan = most }: {
      readonly after?: Place | undefined;
      readonly most: number;
      readonly scan?: number;
    },
  ): Promise<Page> {
    return this.#read(function* () {
      const found: Row[] = [];
      let left = scan;
      for (const name of server === undefined ? yield* servers(after?.server) : [server]) {
        const { created, id } = after?.server === name ? after : BEGINNING;
        const part = { server: name, id, most: most - found.length, scan: left };
        const more = owner === undefined
          ? yield* all("listed", part)
          : yield* all("listedOf", { ...part, owner, created });
        found.push(...more);
        const [any] = more;
        if (any !== undefined) left -= number(any, "scanned");
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

  /** Counts unexpired shares; estimates many. */
  count(): Promise<number> {
    return this.#read(function* () {
      return number((yield* first("count", {})) ?? {}, "shares");
    });
  }

  /** Applies an operator's change; undefined if the share does not exist. A new owner, account or path clears `made`, a new owner `mail`. */
  amend(
    server: string,
    id: string,
    { owner, target, uid, gid, path }: Pick<Share, "owner" | "target" | "uid" | "gid" | "path">,
  ): Promise<Share | undefined> {
    const to = { owner, target, uid, gid: gid ?? null, path };
    return this.#change(() => share("amend", { server, id, ...to }), { lock: sharesOf(server) });
  }

  /** Imports shares; one without id exists if its owner has one of the same path and target. @returns The id of each. */
  addAll(given: readonly Share[]): Promise<readonly { readonly id: string; readonly added: boolean }[]> {
    return this.#change(function* () {
      const ids: { id: string; added: boolean }[] = [];
      for (const share of given) {
        const { server, owner, path, target } = share;
        const present = share.id === ""
          ? yield* first("withPath", { server, owner, path, target })
          : undefined;
        const id = present === undefined ? share.id || newShareId() : text(present, "id");
        ids.push({ id, added: (yield* first("insert", shareColumns({ ...share, id }))) !== undefined });
      }
      return ids;
    });
  }

  /** Deletes expired shares, and used-up ones after 30 days. @returns Their number. */
  async purge(): Promise<number> {
    let ended = 0;
    for (const name of ["purgeExpired", "purgeUsedUp"] as const) {
      while (this.database.isOpen) {
        const deleted = await this.#change(() => this.#purge(name));
        ended += deleted.length;
        if (deleted.length < PURGE_BATCH) break;
        await new Promise((resolve) => setTimeout(resolve, 0)); // requests come first
      }
    }
    return ended;
  }

  close(): void {
    this.database.close();
  }

  /** Removes a share from all servers, and records its end where it had not ended before. */
  *#remove(server: string, id: string): SqlSteps<boolean> {
    const removed = yield* shares("remove", { server, id });
    const ended = removed.filter(({ usesLeft }) => usesLeft !== 0);
    yield* this.recorder.record(...ended.map((share) => shareEnded(share, "removed")));
    return removed.length > 0;
  }

  /** Deletes some shares; used-up ones had ended before. */
  *#purge(name: "purgeExpired" | "purgeUsedUp"): SqlSteps<readonly Row[]> {
    const deleted = yield* all(name, {});
    const expired = deleted.map(toShare).filter(({ usesLeft }) => usesLeft !== 0);
    yield* this.recorder.record(...expired.map((share) => shareEnded(share, "expired")));
    return deleted;
  }

  #read<T>(work: () => SqlSteps<T>): Promise<T> {
    return this.database.read(work).catch(rethrow);
  }

  /** Runs one transaction. @throws {ERR_SHARE_STORE} */
  #change<T>(work: () => SqlSteps<T>, options?: ChangeOptions): Promise<T> {
    return this.database.change(work, options).catch(rethrow);
  }
}

function all(name: Statement, values: Values): SqlSteps<readonly Row[]> {
  return rows(SQL[name], values);
}

function* shares(name: Statement, values: Values): SqlSteps<Share[]> {
  return (yield* all(name, values)).map(toShare);
}

function* recordUse(server: string, id: string, use: UseStart): SqlSteps<Row> {
  const { who, address, kind, path, continues: { version = null, visitor = null } = {} } = use;
  const isView = kind === "HTTP-look";
  const record = yield* first("record", {
    ...{ server, id, who, address, path, version, visitor },
    kind: isView ? "HTTP-download" : kind,
    looked: isView ? 1 : null,
  });
  if (isView) yield* all("trimUses", { server, id });
  return record ?? {};
}

/** @param notifications Recorded ones; absent if it continues an earlier use. */
function claimed(share: Row, use: Row, notifications?: readonly string[]): Claim {
  const [renewals, continued] = [number(share, "renewals"), notifications === undefined];
  return { share: toShare(share), use: number(use, "key"), renewals, continued, notifications };
}

function sharesOf(server: string): string {
  return `shares of ${server}`;
}

/** Runs a statement for one share; it can return the share's rows of other servers. */
function* share(name: Statement, values: Values): SqlSteps<Share | undefined> {
  return (yield* shares(name, values)).find(({ server }) => server === values.server);
}

/** Returns the servers with shares, sorted, from `first` on. */
function* servers(first = ""): SqlSteps<string[]> {
  return (yield* all("servers", { first })).map((row) => text(row, "server"));
}

function* checkOthers(
  server: string,
  { owner, path, target, made }: ShareDraft,
  before = Number.MAX_SAFE_INTEGER,
): SqlSteps<void> {
  if (made?.atHome) return;
  const others = { server, owner, path, target, before };
  const above = yield* first("above", { ...others, paths: JSON.stringify(coveringPaths(path)) });
  // `0` follows `/`, so this range holds all paths below the directory.
  const below = path.endsWith("/")
    ? yield* first("below", { ...others, end: `${path.slice(0, -1)}0` })
    : undefined;
  if (above !== undefined || below !== undefined) throw httpError("ERR_SHARED_BY_ANOTHER");
}

const MAX_PAGE = 1000;
const BEGINNING = { created: Number.MIN_SAFE_INTEGER, id: "" };

function bounds({ after = BEGINNING, most = MAX_PAGE }: Part = {}): Values {
  return { created: after.created, id: after.id, most };
}

/** Opens or creates the share store in an SQLite file. @throws {UnknownDatabase} If the file is not ours, or newer than this service. */
export function openShareStore(file: string, clock: Clock, sink?: Sink, recorder?: Recorder): ShareStore {
  return new ShareStore(new SqliteDatabase(file, SHARE_SCHEMA, clock, sink), recorder);
}
