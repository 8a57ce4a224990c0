import { hasForbiddenCharacter, hasInvisibleCharacter } from "../../../model/absolute_path.ts";
import { invalidRequest } from "../../../model/http_error.ts";

const MAX_BYTES = 200; // bytes; leaves room for suffixes within the 255 of file systems

const MAX_DIRECTORIES = 16;

/** Returns the relative name of an upload; no part leaves the directory or is hidden. @throws {ERR_INVALID_REQUEST} */
export function droppedName(name: string): string {
  const parts = name.split("/");
  if (parts.includes("")) throw invalidRequest("Name the file");
  if (parts.length - 1 > MAX_DIRECTORIES) {
    throw invalidRequest(`The file is more than ${MAX_DIRECTORIES} directories deep`);
  }
  for (const part of parts) {
    if (part.startsWith(".")) {
      throw invalidRequest("Files and directories whose names begin with a dot cannot be uploaded here");
    }
    if (new TextEncoder().encode(part).length > MAX_BYTES) {
      throw invalidRequest(`A name is longer than ${MAX_BYTES} bytes`);
    }
    if (hasForbiddenCharacter(part) || hasInvisibleCharacter(part)) {
      throw invalidRequest(
        "A name has characters that cannot be seen, or that change the direction of writing",
      );
    }
  }
  return name;
}

const MAX_NAMES = 1000;

/** Returns the lowest free number in logarithmically many checks, however many files have the name; undefined if all are taken. */
export async function firstFree(isTaken: (n: number) => Promise<boolean>): Promise<number | undefined> {
  let [taken, free] = [0, 1];
  while (await isTaken(free)) {
    if (free === MAX_NAMES) return undefined;
    [taken, free] = [free, Math.min(2 * free, MAX_NAMES)];
  }
  while (free - taken > 1) {
    const middle = (taken + free) >> 1;
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return free;
}

/** Returns `a.txt` for 1, `a (2).txt` for 2 and so on. */
export function nthName(name: string, n: number): string {
  if (n === 1) return name;
  const first = name.lastIndexOf("/") + 1;
  const dot = name.lastIndexOf(".");
  return dot <= first ? `${name} (${n})` : `${name.slice(0, dot)} (${n})${name.slice(dot)}`;
}
