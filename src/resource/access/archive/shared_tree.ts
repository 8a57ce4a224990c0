import { Buffer } from "node:buffer";
import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { type Entry, isReadable } from "../../../daemon/session/entry.ts";
import { TimeSlicer } from "../../../model/time_slicing.ts";
import { isHttpError } from "../../../model/http_error.ts";
import type { ArchiveEntry } from "./zip_archive.ts";

interface ArchiveBounds {
  readonly entries: number;
  readonly depth: number;
  readonly names: number; // bytes of all names with their directories: they stay in memory until the end
}

/** Bounds of one archive: a link to its own parent makes a directory endless. */
export const ARCHIVE_BOUNDS: ArchiveBounds = { entries: 50_000, depth: 64, names: 8 * 1024 * 1024 };

const MISSING = "NOT COMPLETE.txt";

interface Waiting {
  readonly path: string;
  readonly name: string; // path in the archive, with a slash at its end
  readonly depth: number;
}

interface FoundEntry {
  readonly entry: Entry;
  readonly part: string;
}

/** Entries of a shared directory tree for an archive, listed by the daemon. */
export class SharedTree {
  readonly #bounds: ArchiveBounds;
  readonly #waiting: Waiting[] = [];
  #entriesLeft: number;
  #nameBytesLeft: number;
  readonly #missing = new Map<string, number>();

  /** @param session Can read the whole tree; the caller closes it. */
  constructor(readonly session: Pick<DaemonSession, "list" | "series">, bounds: Partial<ArchiveBounds> = {}) {
    this.#bounds = { ...ARCHIVE_BOUNDS, ...bounds };
    this.#entriesLeft = this.#bounds.entries;
    this.#nameBytesLeft = this.#bounds.names;
  }

  /** @param path Absolute, with a slash at its end. @param name Name of the top directory in the archive. */
  async *entries(path: string, name: string): AsyncGenerator<ArchiveEntry, void> {
    const top = `${safePart(name)}/`;
    this.#waiting.push({ path, name: top, depth: 1 });
    let hasNote = false;
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      const found = await this.#list(next);
      yield { name: next.name, size: 0 };
      hasNote ||= next.depth === 1 && found.some(({ part }) => part === MISSING);
      const files: FoundEntry[] = [];
      for (const each of found) {
        const { entry, part } = each;
        const depth = next.depth + 1;
        if (entry.kind !== "directory") files.push(each);
        else if (depth > this.#bounds.depth) this.#miss(`more than ${this.#bounds.depth} directories deep`);
        else this.#waiting.push({ path: `${next.path}${entry.name}/`, name: `${next.name}${part}/`, depth });
      }
      yield* this.#files(next, files);
    }
    if (this.#missing.size > 0) yield this.#note(`${top}${hasNote ? `(2) ${MISSING}` : MISSING}`);
  }

  async #list(directory: Waiting): Promise<readonly FoundEntry[]> {
    const { path, name: before, depth } = directory;
    const found: Entry[] = [];
    const take = (entry: Entry) => {
      const { name, kind } = entry;
      if (kind === "special") this.#miss("neither file nor directory");
      else if (!isReadable(entry)) this.#miss("not readable");
      else if (this.#entriesLeft === 0) {
        this.#miss(`more than ${this.#bounds.entries} files and directories`);
      } else if (this.#nameBytesLeft < Buffer.byteLength(before) + Buffer.byteLength(name)) {
        this.#miss(`names that together are longer than ${this.#bounds.names} bytes`);
      } else {
        this.#entriesLeft--;
        this.#nameBytesLeft -= Buffer.byteLength(before) + Buffer.byteLength(name);
        found.push(entry);
      }
    };
    const listing = await this.session.list(path, take).catch((error) => {
      if (depth === 1 || !isLeftOut(error)) throw error;
      this.#miss("directories that cannot be read");
      return { complete: true, unreadable: 0 };
    });
    const { complete, unreadable } = listing;
    if (unreadable > 0) this.#miss("names with control characters", unreadable);
    if (!complete) this.#miss("directories that are too long");
    return await withNames(found);
  }

  async *#files(directory: Waiting, found: readonly FoundEntry[]): AsyncGenerator<ArchiveEntry, void> {
    const series = await this.session.series(
      found.filter(({ entry }) => entry.size > 0)
        .map(({ entry: { name, size } }) => ({ path: `${directory.path}${name}`, length: size })),
    );
    try {
      for (const { entry: { size, modified }, part } of found) {
        const name = `${directory.name}${part}`;
        if (size === 0) yield { name, size, modified };
        else {
          const content = await begun(series.next());
          if (content !== undefined) yield { name, size, modified, open: () => content };
          else this.#miss("files that cannot be read");
        }
      }
    } finally {
      series.close();
    }
  }

  #miss(reason: string, times = 1): void {
    this.#missing.set(reason, (this.#missing.get(reason) ?? 0) + times);
  }

  #note(name: string): ArchiveEntry {
    const reasons = Array.from(this.#missing, ([reason, times]) => `${times} x ${reason}\n`);
    const text = new TextEncoder().encode(`Not in this archive:\n\n${reasons.join("")}`);
    return { name, size: text.length, open: () => ReadableStream.from([text]) };
  }
}

/** Reports whether the daemon refused this entry but can still answer for the next. */
function isLeftOut(error: unknown): boolean {
  return isHttpError(error, "ERR_NOT_FOUND") || isHttpError(error, "ERR_ACCESS_REFUSED");
}

/** Returns the bytes of a file after the first have arrived; undefined if the daemon refuses to open it. */
async function begun(bytes: AsyncIterable<Uint8Array<ArrayBuffer>>) {
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    return resumed(await iterator.next(), iterator);
  } catch (error) {
    if (!isLeftOut(error)) throw error;
    return undefined;
  }
}

/** Yields a first result that was read already, and then the rest. */
export async function* resumed<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncIterator<T, unknown>,
): AsyncGenerator<T, void> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Gives each entry a unique name. Counting continues where it stopped: a hostile directory would otherwise make this quadratic. */
async function withNames(found: readonly Entry[]): Promise<readonly FoundEntry[]> {
  const taken = new Set<string>();
  for (const { name } of found) taken.add(name);
  const tried = new Map<string, number>();
  const named: FoundEntry[] = [];
  const steps = new TimeSlicer();
  for (const entry of found) {
    const safe = safePart(entry.name);
    let part = safe;
    for (let n = tried.get(safe) ?? 0; part !== entry.name && taken.has(part); tried.set(safe, n)) {
      part = `${safe}_${++n === 1 ? "" : n}`;
    }
    taken.add(part);
    named.push({ entry, part });
    if (steps.shouldYield) await steps.yield();
  }
  return named;
}

/** Escapes names that could leave the directory on unpacking: some tools read a backslash as a slash, and `C:` as a drive. */
function safePart(name: string): string {
  const safe = name.replaceAll("\\", "_").replaceAll("/", "_").replace(/^([A-Za-z]):/, "$1_");
  return /^\.{0,2}$/.test(safe) ? "_" : safe;
}
