import { isJsonObject } from "../../model/json_object.ts";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import { httpError } from "../../model/http_error.ts";
import type { RecordStore, StoredRecord } from "../../store/record_store.ts";
import { escaped } from "./dav_xml.ts";

/** Write lock (RFC 4918, 6). A lock of a directory binds only its own account, so that nobody can lock out all others. */
export interface DavLock {
  readonly token: string;
  readonly owner: string; // canonical DN of its creator
  readonly server: string;
  readonly uid: string;
  readonly path: string; // absolute, without trailing slash
  readonly directory: boolean;
  readonly deep: boolean; // whether it covers everything below
  readonly shared: boolean;
  readonly note: string; // about the owner, as the client wrote it
  readonly ends: number; // seconds since the epoch
}

/** User of an account on a server, who sets or meets locks. */
export interface LockUser {
  readonly owner: string; // canonical DN
  readonly server: string;
  readonly uid: string;
}

const KIND = "dav-lock";

const MAX_LOCKS = 200; // per user

const MAX_SECONDS = 3600;
const DEFAULT_SECONDS = 600;

const SCHEME = "opaquelocktoken:"; // scheme of lock tokens (RFC 4918, 6.5)

/** Locks in the record store, which all instances share. */
export class DavLocks {
  #known: { readonly version: number; readonly locks: Promise<readonly DavLock[]> } | undefined;

  constructor(readonly records: () => RecordStore, readonly clock: Clock) {}

  /** Returns the locks that bind a user at a path: on it, on directories above, and with `below` on everything below. */
  async at({ server, uid }: LockUser, path: string, { below = false } = {}): Promise<readonly DavLock[]> {
    const now = epochSeconds(this.clock);
    return (await this.#all()).filter((lock) =>
      lock.ends > now && lock.server === server && (!lock.directory || lock.uid === uid) &&
      (covers(lock, path) || (below && isBelow(lock.path, path)))
    );
  }

  /** Creates a lock. The caller serialises requests. @throws {ERR_LOCKED | ERR_TOO_MANY_LOCKS} */
  async make(
    user: LockUser,
    wanted: Pick<DavLock, "path" | "directory" | "deep" | "shared" | "note">,
    timeout: string | null,
  ): Promise<DavLock> {
    this.#known = undefined; // the notification of another instance's lock may not have arrived yet
    const others = await this.at(user, wanted.path, { below: wanted.deep });
    if (others.some(({ shared }) => !shared || !wanted.shared)) throw httpError("ERR_LOCKED");
    const own = (await this.#all()).filter(({ owner }) => owner === user.owner);
    if (own.length >= MAX_LOCKS) throw httpError("ERR_TOO_MANY_LOCKS", { most: MAX_LOCKS });
    const lock = { ...user, ...wanted, token: `${SCHEME}${crypto.randomUUID()}`, ends: this.#end(timeout) };
    await this.#put(lock);
    return lock;
  }

  async refresh(lock: DavLock, timeout: string | null): Promise<DavLock> {
    const extended = { ...lock, ends: this.#end(timeout) };
    await this.#put(extended);
    return extended;
  }

  async remove({ token }: DavLock): Promise<void> {
    await this.records().remove(KIND, token);
    this.#known = undefined;
  }

  /** Removes the locks on a path that no longer exists, and on everything that was below. */
  async forget(user: LockUser, path: string): Promise<void> {
    for (const lock of await this.at(user, path, { below: true })) {
      if (covers({ path, deep: true }, lock.path)) await this.remove(lock);
    }
  }

  async #put({ token, owner, ends, ...content }: DavLock): Promise<void> {
    const record = { key: token, owner, made: epochSeconds(this.clock), ends, content };
    await this.records().put(KIND, record, MAX_LOCKS);
    this.#known = undefined;
  }

  /** Reads the locks only after a change. */
  #all(): Promise<readonly DavLock[]> {
    const records = this.records();
    const version = records.version();
    if (this.#known?.version !== version) {
      this.#known = { version, locks: records.list(KIND).then((found) => found.flatMap(lockOf)) };
      this.#known.locks.catch(() => this.#known = undefined);
    }
    return this.#known.locks;
  }

  #end(timeout: string | null): number {
    const seconds = /^\s*infinite\b/i.test(timeout ?? "")
      ? MAX_SECONDS
      : Number(/^\s*second-(\d{1,10})\b/i.exec(timeout ?? "")?.[1] ?? DEFAULT_SECONDS);
    return epochSeconds(this.clock) + Math.min(Math.max(seconds, 1), MAX_SECONDS);
  }
}

/** Reports whether a lock is on a path or, if deep, on a directory above. */
export function covers({ path: root, deep }: Pick<DavLock, "path" | "deep">, path: string): boolean {
  return root === path || (deep && isBelow(path, root));
}

/** Reports whether a path is below a directory, which is not below itself. */
export function isBelow(path: string, directory: string): boolean {
  return path !== directory && path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

function lockOf({ key: token, owner, ends, content }: StoredRecord): DavLock[] {
  if (!isJsonObject(content)) return [];
  const { server, uid, path, note, directory, deep, shared } = content;
  const texts = { server: String(server), uid: String(uid), path: String(path), note: String(note) };
  return [{
    ...{ token, owner, ends, ...texts },
    ...{ directory: directory === true, deep: deep === true, shared: shared === true },
  }];
}

/** Lock with the percent-encoded address of the locked resource. */
export type ShownLock = DavLock & { readonly root: string };

/** Returns an `activelock` element. */
export function lockXml({ token, deep, shared, note, ends, root }: ShownLock, now: number): string {
  const scope = shared ? "<D:shared/>" : "<D:exclusive/>";
  const seconds = Math.max(0, ends - Math.floor(now / 1000));
  return `<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope>${scope}</D:lockscope>` +
    `<D:depth>${deep ? "infinity" : "0"}</D:depth><D:owner>${escaped(note)}</D:owner>` +
    `<D:timeout>Second-${seconds}</D:timeout><D:locktoken><D:href>${escaped(token)}</D:href></D:locktoken>` +
    `<D:lockroot><D:href>${escaped(root)}</D:href></D:lockroot></D:activelock>`;
}
