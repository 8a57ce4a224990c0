import { closeSync, openSync } from "node:fs";

/** Default limit of connections. */
const MOST_CONNECTIONS = 4096;
/** Open files for everything else, such as daemons, databases and logs. */
const HEADROOM = 256;
const MOST_TRIED = 16_384;

/** Limits the edge's connections to the available file descriptors: a listener that cannot accept one dies silently. */
export class ConnectionLimit {
  readonly #tried: number;
  readonly #files: number;

  /**
   * Determines how many files the process can open; call it before anything else opens some.
   * @param openable Counts files that can be opened; by default tries it, since reading the limit needs more rights.
   */
  constructor(configured: number | undefined, openable: (wanted: number) => number = tryOpenFiles) {
    this.#tried = wantedOf(configured) + HEADROOM;
    this.#files = openable(this.#tried);
  }

  /** Returns the limit. @param configured 0: as many as open files allow; absent: the default. */
  most(configured: number | undefined): number {
    const wanted = wantedOf(configured);
    if (this.#files >= this.#tried) return wanted;
    return Math.min(wanted, Math.max(this.#files - HEADROOM, Math.floor(this.#files / 2)));
  }
}

function wantedOf(configured: number | undefined): number {
  return configured === undefined ? MOST_CONNECTIONS : configured === 0 ? MOST_TRIED : configured;
}

/** Opens a directory repeatedly, then closes all handles; microseconds each. */
function tryOpenFiles(wanted: number): number {
  const open: number[] = [];
  try {
    while (open.length < Math.min(wanted, MOST_TRIED)) open.push(openSync("/", "r"));
  } catch {
    // This is the limit; Windows opens no directory and has no limit to find.
    if (open.length === 0) return wanted;
  } finally {
    open.forEach(closeSync);
  }
  return open.length === MOST_TRIED ? wanted : open.length;
}
