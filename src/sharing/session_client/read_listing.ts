import { type Entry, parseEntry } from "./entry.ts";
import type { GuardedSocket } from "./guarded_socket.ts";

/** Entries and bytes after which a listing is cut. */
const MAX_ENTRIES = 50_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads the entries of a directory from a data connection. Lines that are no entries are left out: a name with a line
 * break can add wrong entries to its own directory's listing, but do no more.
 * @returns `complete: false` if the listing was too long and is cut.
 */
export async function readListing(
  data: GuardedSocket,
  ms: number,
): Promise<{ readonly entries: readonly Entry[]; readonly complete: boolean }> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  const entries: Entry[] = [];
  let rest = "";
  for (let bytes = 0;;) {
    const count = await data.read(buffer, ms);
    const lines = (rest + decoder.decode(buffer.subarray(0, count ?? 0), { stream: count !== null })).split(
      "\n",
    );
    rest = count === null ? "" : lines.pop() ?? "";
    for (const line of lines) {
      const entry = parseEntry(line.replace(/\r$/, ""));
      if (entry !== undefined && isName(entry.name)) entries.push(entry);
    }
    if (count === null) return { entries, complete: true };
    bytes += count;
    if (entries.length > MAX_ENTRIES || bytes > MAX_BYTES) {
      return { entries: entries.slice(0, MAX_ENTRIES), complete: false };
    }
  }
}

function isName(name: string): boolean {
  return name !== "." && name !== ".." && !name.includes("/");
}
