import { httpError } from "../../model/http_error.ts";
import { type Entry, parseEntry } from "./entry.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import type { GuardedSocket } from "./guarded_socket.ts";

/** Lines and bytes after which a listing is cut. */
const MOST_LINES = 100_000;
const MOST_BYTES = 32 * 1024 * 1024;

/** Characters of a line without its end, and of a name: one has 255 bytes on most file systems. */
const MOST_IN_LINE = 4096;
const MOST_IN_NAME = 1024;

/** What of a listing was not handed on as entries. */
export interface ListingRest {
  /** False if the listing was too long and is cut. */
  readonly complete: boolean;
  /** Lines that are no entries: names with control characters are such. */
  readonly unreadable: number;
}

/**
 * Reads the entries of a directory from a data connection, each as it comes. Lines that are no entries are counted: a name
 * with a line break can add wrong entries to its own directory's listing, but do no more.
 * @throws {ERR_DAEMON_SESSION} If a line is endless.
 */
export async function readListing(
  data: Pick<GuardedSocket, "read">,
  ms: number,
  take: (entry: Entry) => void,
): Promise<ListingRest> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  const steps = new TimeSlicer();
  let rest = "";
  let lines = 0;
  let unreadable = 0;
  for (let bytes = 0;;) {
    const count = await data.read(buffer, ms);
    const text = rest + decoder.decode(buffer.subarray(0, count ?? 0), { stream: count !== null });
    const arrived = text.split("\n");
    rest = count === null ? "" : arrived.pop() ?? "";
    if (rest.length > MOST_IN_LINE) {
      throw httpError("ERR_DAEMON_SESSION", "Daemon sent an endless line in a listing");
    }
    await steps.rest(); // others may have read at the same moment
    for (const line of arrived) {
      if (line === "") continue;
      lines++;
      const entry = parseEntry(apart(line.endsWith("\r") ? line.slice(0, -1) : line));
      if (entry !== undefined && isName(entry.name)) take(entry);
      else unreadable++;
      if (lines % 16 === 0 && steps.isLong) await steps.rest();
    }
    if (count === null) return { complete: true, unreadable };
    bytes += count;
    if (lines > MOST_LINES || bytes > MOST_BYTES) return { complete: false, unreadable };
  }
}

function isName(name: string): boolean {
  return name !== "." && name !== ".." && !name.includes("/") && name.length <= MOST_IN_NAME;
}

/**
 * The line as a text of its own, at most as long as a line may be: the engine makes no copy of a part, and so an entry that
 * is kept would keep all that came in one read with it.
 */
function apart(line: string): string {
  return ` ${line.slice(0, MOST_IN_LINE)}`.slice(1);
}
