import { closeSync, openSync } from "node:fs";

/** Connections at a time, where the operator chose no number. */
const MOST_CONNECTIONS = 4096;
/** Open files for everything else: daemons, databases, logs, the operator. */
const HEADROOM = 256;
/** More are not tried out. */
const MOST_TRIED = 16_384;

/**
 * How many connections the edge may have, so that the process never runs out of file descriptors: then its listeners
 * would be dead for good, as the platform gives up a listener that cannot accept, and says nothing.
 */
export class ConnectionLimit {
  readonly #tried: number;
  readonly #files: number;

  /**
   * Finds out how many files the process can open; to be done before there is anything else that opens some.
   * @param configured As {@link most}.
   * @param openable How many of so many files can be opened at once; by default it is tried out, for the limit cannot be
   *   read without rights that the service has not got.
   */
  constructor(configured: number | undefined, openable: (wanted: number) => number = tryOpenFiles) {
    this.#tried = wantedOf(configured) + HEADROOM;
    this.#files = openable(this.#tried);
  }

  /** @param configured 0 is as many as open files allow, as far as that was tried out; absent: the default. */
  most(configured: number | undefined): number {
    const wanted = wantedOf(configured);
    if (this.#files >= this.#tried) return wanted;
    return Math.min(wanted, Math.max(this.#files - HEADROOM, Math.floor(this.#files / 2)));
  }
}

function wantedOf(configured: number | undefined): number {
  return configured === undefined ? MOST_CONNECTIONS : configured === 0 ? MOST_TRIED : configured;
}

/** Opens a directory again and again, and closes all of it; microseconds each. */
function tryOpenFiles(wanted: number): number {
  const open: number[] = [];
  try {
    while (open.length < Math.min(wanted, MOST_TRIED)) open.push(openSync("/", "r"));
  } catch {
    // That is the limit; Windows opens no directory and has none worth asking for.
    if (open.length === 0) return wanted;
  } finally {
    open.forEach(closeSync);
  }
  return open.length === MOST_TRIED ? wanted : open.length;
}
