/** Operations on files of a daemon; nothing else opens data sessions. Shares open one with {@link openFiles} for a request. */
import type { DaemonSession } from "../daemon/session/daemon_session.ts";
import type { Entry } from "../daemon/session/entry.ts";
import type { OwnSession, SessionClient } from "../daemon/session/session_client.ts";
import { nameOf, parentOf } from "../model/absolute_path.ts";
import { httpError, isHttpError } from "../model/http_error.ts";
import type { Body } from "../model/http_message.ts";
import { coversTree, type PathLimits, withinAll } from "./path_limits.ts";

/** Session request of this service, which checks every path before the daemon gets it. */
export interface FilesSession extends Omit<OwnSession, "reaches"> {
  readonly within?: string; // prefix of permitted paths; default: all paths
  readonly limits: readonly PathLimits[]; // all apply
}

/** Opens a session that reaches paths within a directory and all limits. @param signal Ends the session. */
export function openFiles(
  sessions: Pick<SessionClient, "open">,
  { within = "/", limits, ...wanted }: FilesSession,
  signal: AbortSignal,
): Promise<DaemonSession> {
  const reaches = (path: string) => path.startsWith(within) && withinAll(limits, path);
  return sessions.open({ ...wanted, reaches }, signal);
}

/** Entry with its modification time in milliseconds since the epoch, if the daemon reports it. */
export type DatedEntry = Entry & { readonly modifiedAt?: number };

/** Returns the entry at a path; undefined if it does not exist or is out of reach. */
export function find(session: DaemonSession, path: string): Promise<DatedEntry | undefined> {
  return unlessMissing(session.datedEntry(path));
}

/** Returns the size of a path in bytes; undefined if it does not exist. */
export async function sizeOf(session: DaemonSession, path: string): Promise<number | undefined> {
  return await unlessMissing(session.mayExist(path))
    ? (await unlessMissing(session.entry(path)))?.size
    : undefined;
}

/** Returns the file to be replaced, if it exists. @throws {ERR_NOT_A_FILE} Pipes and devices could block the daemon for ever. */
export async function existingFile(session: DaemonSession, path: string): Promise<DatedEntry | undefined> {
  const entry = await unlessMissing(session.mayExist(path)) ? await find(session, path) : undefined;
  if (entry !== undefined && entry.kind !== "file") throw httpError("ERR_NOT_A_FILE");
  return entry;
}

/** Creates the missing directories of a path, which ends in a slash. @throws {ERR_NO_DIRECTORY} If a file is in the way. */
export async function makeDirectories(session: DaemonSession, directory: string): Promise<void> {
  const entry = await find(session, directory);
  if (entry?.kind === "directory") return;
  if (entry !== undefined || directory === "/") throw httpError("ERR_NO_DIRECTORY", "a file is in the way");
  await makeDirectories(session, parentOf(directory.slice(0, -1)));
  try {
    await session.makeDirectory(directory.slice(0, -1));
  } catch (error) {
    // Another request may have created it meanwhile.
    if ((await find(session, directory))?.kind !== "directory") throw error;
  }
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  return await found.catch((error) => {
    if (isHttpError(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  });
}

/** Bounds of work on a tree: a link to its own parent makes a directory endless. */
const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 64;

const MAX_NAME_BYTES = 255; // most bytes of a name

interface Writing {
  readonly length?: number; // announced bytes
  readonly signal: AbortSignal;
  /** Called with the existing file before anything is written, and again before it is replaced. @throws To stop. */
  readonly check?: (existing: DatedEntry | undefined) => Promise<void> | void;
  /** Called with the whole file under its temporary name. @throws To stop. */
  readonly verify?: (session: DaemonSession, path: string, size: number) => Promise<void>;
  /** Locks the path for the second check and the replacement. Returns its release. Absent: no second check. */
  readonly lock?: (signal: AbortSignal) => Promise<() => void>;
  readonly progress?: (bytes: number) => void;
}

/** Replacement of a file or directory that was set aside: the absolute paths between which the new one moves. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
}

/** Files on one server that one person reaches. */
export class Files {
  /** @param confine Returns the session that reaches a path. @throws A refusal. */
  constructor(
    readonly sessions: Pick<SessionClient, "open">,
    readonly confine: (path: string) => FilesSession,
    readonly home: () => Promise<string>, // with its last slash
    /** Runs work on a temporary path. Then deletes what is left there or, if a {@link Replacement} failed, moves it back. */
    readonly withTemporaryPath: <T>(
      part: string,
      work: (renamed: () => void) => Promise<T>,
      replacement?: Replacement,
    ) => Promise<T>,
  ) {}

  /** Opens a session that reaches a path, and all others within the person's limits or the token's directory around it. */
  async open(path: string, signal: AbortSignal): Promise<DaemonSession> {
    return await openFiles(this.sessions, this.confine(path), signal);
  }

  /**
   * Writes a file under a temporary name beside it and renames it, so that readers see the old content or the new. A
   * replaced file keeps its mode; where the daemon cannot set it, the file is written in place.
   * @returns Whether a file was replaced.
   * @throws {ERR_NOT_A_FILE | ERR_NO_DIRECTORY} And as sessions.
   */
  async write(path: string, body: Body, writing: Writing): Promise<boolean> {
    const { length, signal, check, verify, lock, progress = () => {} } = writing;
    using session = await this.open(path, signal);
    const existing = await existingFile(session, path);
    await check?.(existing);
    const writeTo = async (to: string) => {
      let size = 0;
      const counted = (bytes: number) => {
        size = bytes;
        progress(bytes);
      };
      await withParent(session, path, () => session.upload(to, body, { length, progress: counted }));
      await verify?.(session, to, size);
      return existing !== undefined;
    };
    const part = temporary(path);
    if (!this.reaches(part)) return await writeTo(path);
    return await this.withTemporaryPath(part, async (renamed) => {
      using _ = session; // an account has few sessions: this one ends before another deletes the temporary file
      if (existing && !await createWithMode(session, part, existing)) return await writeTo(path);
      await writeTo(part);
      const release = await lock?.(signal);
      try {
        const now = release === undefined ? existing : await existingFile(session, path);
        if (release !== undefined) await check?.(now);
        await session.rename(part, path);
        renamed();
        return now !== undefined;
      } finally {
        release?.();
      }
    });
  }

  reaches(path: string): boolean {
    const { within = "/", limits } = this.confine(path);
    return path.startsWith(within) && withinAll(limits, path);
  }

  /** Creates a directory. @throws {ERR_EXISTS | ERR_NO_DIRECTORY} */
  async makeDirectory(path: string, signal: AbortSignal): Promise<void> {
    using session = await this.open(`${path}/`, signal);
    if (await find(session, path) !== undefined) throw httpError("ERR_EXISTS");
    await withParent(session, path, () => session.makeDirectory(path));
  }

  /** Deletes a file, or a directory with everything below, but never the targets of links. @throws {ERR_OUTSIDE_LIMITS | ERR_TREE_TOO_LARGE} */
  async remove(path: string, signal: AbortSignal): Promise<void> {
    using session = await this.open(path, signal);
    const { kind } = await session.entry(path);
    this.#requireRemovable(path, kind);
    await removeTree(session, path, kind);
  }

  /** Renames a file or directory, in place of the target. @throws {ERR_OUTSIDE_LIMITS | ERR_OVERLAP | ERR_NO_DIRECTORY} */
  async move(from: string, to: string, { signal, check, lock }: Omit<Copying, "shallow">): Promise<void> {
    using session = await this.open(from, signal);
    const { kind } = await session.entry(from);
    this.#requireBoth(from, to, kind);
    const release = await lock?.(signal);
    try {
      await check?.(await find(session, to));
      await this.#rename(session, from, to, kind);
    } finally {
      release?.();
    }
  }

  /**
   * Copies a file, or a directory with everything below, through this service; replaces an existing target.
   * @param options.shallow Copies a directory without its entries.
   * @throws {ERR_NOT_FOUND | ERR_OUTSIDE_LIMITS | ERR_OVERLAP | ERR_NO_DIRECTORY | ERR_TREE_TOO_LARGE}
   */
  async copy(from: string, to: string, { shallow, ...writing }: Copying): Promise<void> {
    using session = await this.open(from, writing.signal);
    const { kind, size } = await session.entry(from);
    this.#requireBoth(from, to, kind);
    const copyTo = (target: string) =>
      this.#copyTree(session, { from, to: target, kind, size, depth: 0 }, { shallow, ...writing });
    const old = await find(session, to);
    if (old === undefined || (old.kind !== "directory" && kind !== "directory")) return await copyTo(to);
    this.#requireRemovable(to, old.kind);
    const part = temporary(to);
    await this.withTemporaryPath(part, async (renamed) => {
      using _ = session;
      await copyTo(part);
      await this.#rename(session, part, to, kind, from);
      renamed();
    });
  }

  async #copyTree(session: DaemonSession, source: Copied, { shallow, ...writing }: Copying): Promise<void> {
    const waiting = [source];
    let left = MAX_ENTRIES;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { from, to, kind, size, depth } = next;
      if (left-- <= 0 || depth > MAX_DEPTH) throw httpError("ERR_TREE_TOO_LARGE");
      if (kind === "special") continue;
      if (kind === "file") {
        const body = size === 0
          ? null
          : await session.download(from, { first: 0, length: size, stays: true, done: () => {} });
        await this.write(to, body, { ...(depth === 0 && writing), signal: writing.signal, length: size });
        continue;
      }
      await this.makeDirectory(to, writing.signal);
      if (shallow) continue;
      const { complete } = await session.list(from, ({ name, kind, size }) => {
        if (waiting.length > left) return;
        waiting.push({ from: `${from}/${name}`, to: `${to}/${name}`, kind, size, depth: depth + 1 });
      });
      if (!complete) throw httpError("ERR_TREE_TOO_LARGE");
    }
  }

  /**
   * Renames a file or directory. If it or an existing target is a directory, sets the target aside first.
   * @param source Must exist without the target: a link could lead to it through the target.
   */
  async #rename(
    session: DaemonSession,
    from: string,
    to: string,
    kind: Entry["kind"],
    source = from,
  ): Promise<void> {
    const rename = () => withParent(session, to, () => session.rename(from, to));
    const old = await find(session, to);
    if (old === undefined || (old.kind !== "directory" && kind !== "directory")) return await rename();
    this.#requireRemovable(to, old.kind);
    const displaced = temporary(to);
    await this.withTemporaryPath(displaced, async (renamed) => {
      using _ = session;
      await session.rename(to, displaced);
      await session.entry(source);
      await rename();
      renamed();
    }, { from, to });
  }

  /** Checks that limits hide nothing in a directory: a move would put the hidden part outside of them. @throws {ERR_OUTSIDE_LIMITS} */
  #requireTree(directory: string): void {
    if (!this.confine(directory).limits.every((limits) => coversTree(limits, `${directory}/`))) {
      throw httpError("ERR_OUTSIDE_LIMITS", "the limits cut across the directory");
    }
  }

  /** Checks that the caller may delete the target that a move replaces; a later session deletes it. @throws {ERR_ACCESS_REFUSED | ERR_OUTSIDE_LIMITS} */
  #requireRemovable(path: string, kind: Entry["kind"]): void {
    if (this.confine(path).permission !== "FULL") throw httpError("ERR_ACCESS_REFUSED", "deletes something");
    if (kind === "directory") this.#requireTree(path);
  }

  #requireBoth(from: string, to: string, kind: Entry["kind"]): void {
    const [source = "", target = ""] = [from, to].map((path) => path === "/" ? path : `${path}/`);
    if (source.startsWith(target) || target.startsWith(source)) throw httpError("ERR_OVERLAP");
    if (this.confine(from).scope.file !== this.confine(to).scope.file) {
      throw httpError("ERR_OUTSIDE_LIMITS", "source and target are in different directories of a token");
    }
    if (kind !== "directory") return;
    this.#requireTree(from);
    this.#requireTree(to);
  }
}

type Copying = Pick<Writing, "signal" | "check" | "lock"> & { readonly shallow: boolean };

interface Copied extends Pick<Entry, "kind" | "size"> {
  readonly from: string;
  readonly to: string;
  readonly depth: number;
}

/** Creates an empty file with the mode of one that it will replace. @returns False if the daemon cannot set it. */
export async function createWithMode(
  session: DaemonSession,
  part: string,
  { mode }: DatedEntry,
): Promise<boolean> {
  if (mode === undefined) return false;
  await session.upload(part, null, { length: 0, progress: () => {} });
  return await session.setMode(part, mode);
}

/** Runs work that creates an entry. @throws {ERR_NO_DIRECTORY} If the parent directory is missing. And as the work. */
async function withParent(session: DaemonSession, path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const mayLackIt = isHttpError(error, "ERR_NOT_FOUND") || isHttpError(error, "ERR_DAEMON_SESSION");
    const parent = mayLackIt && session.reaches(path)
      ? await find(session, parentOf(path)).catch(() => "unknown" as const)
      : "unknown";
    if (parent === "unknown" || parent?.kind === "directory") throw error;
    throw httpError("ERR_NO_DIRECTORY", "of a new entry", error);
  }
}

/** Deletes a file, or a directory with everything below. @throws {ERR_TREE_TOO_LARGE} */
export async function removeTree(
  session: DaemonSession,
  path: string,
  kind: Entry["kind"],
  bound = { left: MAX_ENTRIES },
  depth = MAX_DEPTH,
): Promise<void> {
  if (bound.left-- === 0 || depth === 0) throw httpError("ERR_TREE_TOO_LARGE");
  // Removes also a link to a directory, whose target must stay; the listing does not show that it is a link.
  if (await session.remove(path) || kind !== "directory") return;
  const found: Pick<Entry, "name" | "kind">[] = [];
  const { complete } = await session.list(path, ({ name, kind }) => {
    if (found.length <= bound.left) found.push({ name, kind });
  });
  if (!complete) throw httpError("ERR_TREE_TOO_LARGE");
  for (const { name, kind } of found) {
    await unlessMissing(removeTree(session, `${path}/${name}`, kind, bound, depth - 1));
  }
  await session.removeDirectory(path);
}

/** Returns a name beside a path that matches the patterns of most limits on it. */
function temporary(path: string): string {
  const start = `.part-${crypto.randomUUID().replaceAll("-", "")}-`;
  return `${parentOf(path)}${start}${endOfName(nameOf(path), start.length)}`;
}

/** Returns the longest end of a name that fits. @param added Bytes that the name also needs. */
export function endOfName(name: string, added: number): string {
  const letters = [...name];
  while (new TextEncoder().encode(letters.join("")).length > MAX_NAME_BYTES - added) letters.shift();
  return letters.join("");
}
