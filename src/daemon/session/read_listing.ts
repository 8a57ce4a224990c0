import { httpError } from "../../model/http_error.ts";
import { type Entry, parseEntry } from "./entry.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import type { GuardedSocket } from "./guarded_socket.ts";

const MAX_LINES = 100_000;
const MAX_BYTES = 32 * 1024 * 1024;

const MAX_LINE_LENGTH = 4096; // characters
const MAX_NAME_LENGTH = 1024; // characters; most file systems allow 255 bytes

export interface ListingRest {
  readonly complete: boolean; // false if truncated
  readonly unreadable: number; // invalid lines, such as names with control characters
}

/**
 * Reads directory entries from a data connection. Counts invalid lines; a name with a line break can only forge entries
 * of its own directory.
 * @throws {ERR_DAEMON_SESSION} If a line is too long.
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
    if (rest.length > MAX_LINE_LENGTH) {
      throw httpError("ERR_DAEMON_SESSION", "Daemon sent an endless line in a listing");
    }
    await steps.yield(); // others may have read at the same time
    for (const line of arrived) {
      if (line === "") continue;
      lines++;
      const entry = parseEntry(copyOf(line.endsWith("\r") ? line.slice(0, -1) : line));
      if (entry !== undefined && isName(entry.name)) take(entry);
      else unreadable++;
      if (lines % 16 === 0 && steps.shouldYield) await steps.yield();
    }
    if (count === null) return { complete: true, unreadable };
    bytes += count;
    if (lines > MAX_LINES || bytes > MAX_BYTES) return { complete: false, unreadable };
  }
}

function isName(name: string): boolean {
  return name !== "." && name !== ".." && !name.includes("/") && name.length <= MAX_NAME_LENGTH;
}

/** Copies a line, since a substring would retain the whole read buffer. */
function copyOf(line: string): string {
  return ` ${line.slice(0, MAX_LINE_LENGTH)}`.slice(1);
}
