import { invalidRequest } from "../../invalid_request.ts";

/** Bytes of a name at most, so that what is added to it fits into what file systems allow (255). */
const MOST_BYTES = 200;

/**
 * Name of a file that is brought: one that stands in the directory itself, and that no program reads of its own accord,
 * as shells read names with a dot at the beginning.
 * @throws {ERR_INVALID_REQUEST}
 */
export function droppedName(name: string): string {
  if (name === "" || name.includes("/")) throw invalidRequest("Name the file, without directories");
  if (name.startsWith(".")) throw invalidRequest("Files whose names begin with a dot cannot be brought here");
  if (new TextEncoder().encode(name).length > MOST_BYTES) {
    throw invalidRequest(`The name of the file is longer than ${MOST_BYTES} bytes`);
  }
  return name;
}

/** The name under which a file is kept if that is taken: the first is itself, then `a (2).txt` and so on. */
export function nthName(name: string, n: number): string {
  if (n === 1) return name;
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? `${name} (${n})` : `${name.slice(0, dot)} (${n})${name.slice(dot)}`;
}
