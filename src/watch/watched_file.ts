import type { Logger } from "../logging/logger.ts";
import { coalescedTimeout } from "../model/clock.ts";
import { ifExists, readRegularFile, utf8Text } from "../model/regular_file.ts";
import { messageOf } from "../model/text.ts";

/** File system access for watching; follows links. */
export interface FileSource {
  /** Returns a fingerprint of identity, size and time, equal for changes within a clock tick; `undefined` without a file. */
  fingerprint(path: string): Promise<string | undefined>;
  /**
   * Reads a file; `undefined` without one. Never blocks on pipes.
   * @throws {InvalidFile} If longer than `maxBytes`; nothing is read then.
   * @throws {TypeError} If it is no regular file.
   */
  read(path: string, maxBytes?: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** Local disk. */
export const DISK: FileSource = {
  fingerprint: (path) => ifExists(Deno.stat(path).then(fingerprintOf)),
  read: (path, maxBytes) => ifExists(readRegularFile(path, maxBytes)),
};

/** Returns a {@link FileSource} fingerprint. */
export function fingerprintOf({ mtime, ctime, size, ino, dev }: Deno.FileInfo): string {
  return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
}

/**
 * Parsed content of a polled file. Polling by path works on network file systems, through links and after renames,
 * unlike change events. A change is read after one unchanged interval, so not half-written; unusable content is logged
 * once, and the last good content stays.
 */
export interface WatchedFile<T> {
  readonly path: string;
  readonly current: T; // last good content
  check(): Promise<void>; // checks the file now, without waiting for a quiet interval
  close(): void; // stops at once and drops a running read
}

const DIAGNOSTICS = new Map<{ readonly path: string }, string>();

/** Returns the first diagnostic of each watched file of this thread whose version on disk is not in use. */
export function refusedFiles(): string[] {
  return [...DIAGNOSTICS].map(([{ path }, diagnostic]) => {
    const [first = ""] = diagnostic.split("\n", 1);
    return first.includes(path) ? first : `${path}: ${first}`;
  });
}

/** Default polling interval. */
export const POLL_MS = 1000;

/** Interval after a change, if shorter. */
export const DEBOUNCE_MS = 500;

export interface WatchOptions<T> {
  readonly log: Logger;
  /** Default: {@link POLL_MS}. A change takes effect within this, {@link DEBOUNCE_MS} and parsing. */
  readonly intervalMs?: number;
  readonly maxBytes?: number; // bytes; longer files are refused unread. Default: 64 MiB
  /** Content without a file, and until there is a good version; absent: both are errors at the start. */
  readonly fallback?: T;
  readonly onChange?: (content: T) => void; // called after changes, not for the first content
  readonly source?: FileSource; // default: the disk
}

/** Parses a file's text; `file` is for messages. Must not block the event loop. */
export type Parse<T> = (text: string, file: string) => T | Promise<T>;

/** Reads and watches a file. @throws Without fallback: what `parse` throws for the first content, or a `Deno.errors` error. */
export function watchFile<T>(
  path: string,
  parse: Parse<T>,
  options: WatchOptions<T>,
): Promise<WatchedFile<T>> {
  return watchBytes(path, (bytes, file) => parse(utf8Text(bytes, file), file), options);
}

type ParseBytes<T> = (bytes: Uint8Array, file: string) => T | Promise<T>;

/** Watches a binary file, see {@link watchFile}. */
export async function watchBytes<T>(
  path: string,
  parse: ParseBytes<T>,
  options: WatchOptions<T>,
): Promise<WatchedFile<T>> {
  const first = await firstVersion(path, parse, options);
  const file = new PolledFile(path, parse, options, first);
  if (first.digest === ABSENT) await file.check(); // logs why a file is not usable
  file.start();
  return file;
}

const ABSENT = "absent";

/** Reads per {@link WatchedFile.check} if the file keeps changing. Polls read once, so that a change settles first. */
const READ_ATTEMPTS = 3;

/** Quiet time in which each poll reads the file despite an equal fingerprint: changes within a clock tick keep it. */
const SETTLING_MS = 2000;

interface Version<T> {
  readonly content: T;
  readonly digest: string;
}

async function firstVersion<T>(
  path: string,
  parse: ParseBytes<T>,
  options: WatchOptions<T>,
): Promise<Version<T>> {
  const { source = DISK, fallback } = options;
  try {
    const bytes = await source.read(path, options.maxBytes);
    if (bytes !== undefined) return { content: await parse(bytes, path), digest: await digestOf(bytes) };
    if (fallback === undefined) throw new Deno.errors.NotFound(`there is no file ${path}`);
  } catch (error) {
    if (fallback === undefined) throw error;
  }
  return { content: fallback, digest: ABSENT };
}

class PolledFile<T> implements WatchedFile<T> {
  readonly #source: FileSource;
  readonly #intervalMs: number;
  #version: Version<T>;
  #digest: string; // newest version, used or refused
  #seen: string | undefined; // last fingerprint
  #unchangedPolls = 0; // consecutive polls with this fingerprint
  #settled = false; // whether it was read after {@link SETTLING_MS} with this fingerprint, and needs no rereading
  #cancel: (() => void) | undefined;
  #closed = false;
  /** Serialises polls, so that old versions never replace newer ones. */
  #polls: Promise<void> = Promise.resolve();

  constructor(
    readonly path: string,
    readonly parse: ParseBytes<T>,
    readonly options: WatchOptions<T>,
    first: Version<T>,
  ) {
    this.#source = options.source ?? DISK;
    this.#intervalMs = options.intervalMs ?? POLL_MS;
    this.#version = first;
    this.#digest = first.digest;
  }

  get current(): T {
    return this.#version.content;
  }

  check(): Promise<void> {
    return this.#enqueue(true);
  }

  close(): void {
    this.#closed = true;
    DIAGNOSTICS.delete(this);
    this.#cancel?.();
  }

  start(): void {
    if (this.#closed) return;
    const pauseMs = this.#unchangedPolls === 0 ? Math.min(DEBOUNCE_MS, this.#intervalMs) : this.#intervalMs;
    this.#cancel = coalescedTimeout(pauseMs, () => void this.#enqueue(false).finally(() => this.start()));
  }

  #enqueue(immediate: boolean): Promise<void> {
    this.#polls = this.#polls.then(() => this.#poll(immediate));
    return this.#polls;
  }

  async #poll(immediate: boolean): Promise<void> {
    if (this.#closed) return;
    try {
      const fingerprint = await this.#fingerprint();
      this.#unchangedPolls = fingerprint === this.#seen ? this.#unchangedPolls + 1 : 0;
      this.#settled &&= this.#unchangedPolls > 0;
      this.#seen = fingerprint;
      if (this.#settled || (this.#unchangedPolls === 0 && !immediate)) return;
      const read = await this.#readWhole(fingerprint, immediate ? READ_ATTEMPTS : 1);
      if (read === undefined || this.#closed) return; // still changing; the next poll retries
      this.#settled = (this.#unchangedPolls - 1) * this.#intervalMs >= SETTLING_MS;
      await this.#take(read.bytes);
    } catch (error) {
      // Not a version of the file: the next poll retries.
      this.#settled = false;
      this.#reject(`unreadable: ${error}`, error);
    }
  }

  /** Reads the bytes while the fingerprint does not change. */
  async #readWhole(
    fingerprint: string,
    attempts: number,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer> | undefined } | undefined> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const bytes = await this.#source.read(this.path, this.options.maxBytes);
      const after = await this.#fingerprint();
      if (after === fingerprint) return { bytes };
      this.#unchangedPolls = 0;
      this.#seen = fingerprint = after;
    }
    return undefined;
  }

  async #take(bytes: Uint8Array<ArrayBuffer> | undefined): Promise<void> {
    const digest = bytes === undefined ? ABSENT : await digestOf(bytes);
    if (digest === this.#version.digest && DIAGNOSTICS.delete(this)) {
      this.#digest = digest;
      this.options.log.info("file usable again, with the content in use", { file: this.path });
    }
    if (digest === this.#digest) return;
    try {
      const content = await this.#contentOf(bytes);
      if (this.#closed) return;
      this.#version = { content, digest };
      this.#digest = digest;
      DIAGNOSTICS.delete(this);
    } catch (error) {
      this.#reject(digest, error);
      return;
    }
    this.options.log.info("file read again", { file: this.path });
    this.#notify();
  }

  #contentOf(bytes: Uint8Array<ArrayBuffer> | undefined): T | Promise<T> {
    if (bytes !== undefined) return this.parse(bytes, this.path);
    if (this.options.fallback === undefined) throw new Deno.errors.NotFound(`the file ${this.path} is gone`);
    return this.options.fallback;
  }

  /** Keeps the content and reports each `digest` once. */
  #reject(digest: string, error: unknown): void {
    if (this.#closed || digest === this.#digest) return;
    this.#digest = digest;
    DIAGNOSTICS.set(this, messageOf(error));
    const stays = this.#version.digest === ABSENT ? "it counts as absent" : "the last good content stays";
    this.options.log.error(`file not usable, ${stays}`, { file: this.path, error });
  }

  /** Logs a listener's error, which is no fault of the file. */
  #notify(): void {
    try {
      this.options.onChange?.(this.#version.content);
    } catch (error) {
      this.options.log.error("listener to a file failed", { file: this.path, error });
    }
  }

  async #fingerprint(): Promise<string> {
    return await this.#source.fingerprint(this.path) ?? ABSENT;
  }
}

/** Hashes off the event loop. */
async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toBase64();
}
