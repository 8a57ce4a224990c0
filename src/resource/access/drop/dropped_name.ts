import { hasForbiddenCharacter, hasInvisibleCharacter } from "../../../model/absolute_path.ts";
import { invalidRequest } from "../../invalid_request.ts";

/** Bytes of a name at most, so that what is added to it fits into what file systems allow (255). */
const MOST_BYTES = 200;

/** Directories before the name of a file at most. */
const MOST_DIRECTORIES = 16;

/**
 * Name of a file that is brought, with the directories that it comes in: none leads elsewhere, and none is one that programs
 * read of their own accord, as shells read names with a dot at the beginning.
 * @throws {ERR_INVALID_REQUEST}
 */
export function droppedName(name: string): string {
  const parts = name.split("/");
  if (parts.includes("")) throw invalidRequest("Name the file");
  if (parts.length - 1 > MOST_DIRECTORIES) {
    throw invalidRequest(`The file is more than ${MOST_DIRECTORIES} directories deep`);
  }
  for (const part of parts) {
    if (part.startsWith(".")) {
      throw invalidRequest("Files and directories whose names begin with a dot cannot be uploaded here");
    }
    if (new TextEncoder().encode(part).length > MOST_BYTES) {
      throw invalidRequest(`A name is longer than ${MOST_BYTES} bytes`);
    }
    if (hasForbiddenCharacter(part) || hasInvisibleCharacter(part)) {
      throw invalidRequest(
        "A name has characters that cannot be seen, or that change the direction of writing",
      );
    }
  }
  return name;
}

/** Files that may have one name, by numbers. */
const MOST_NAMES = 1000;

/**
 * The first number whose name nothing has, where none is left out: in a few looks, however many there are, since whoever
 * brings files of one name has others wait for each.
 * @returns Absent: all are taken.
 */
export async function firstFree(isTaken: (n: number) => Promise<boolean>): Promise<number | undefined> {
  let [taken, free] = [0, 1];
  while (await isTaken(free)) {
    if (free === MOST_NAMES) return undefined;
    [taken, free] = [free, Math.min(2 * free, MOST_NAMES)];
  }
  while (free - taken > 1) {
    const middle = (taken + free) >> 1;
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return free;
}

/** The name under which a file is kept if that is taken: the first is itself, then `a (2).txt` and so on. */
export function nthName(name: string, n: number): string {
  if (n === 1) return name;
  const first = name.lastIndexOf("/") + 1;
  const dot = name.lastIndexOf(".");
  return dot <= first ? `${name} (${n})` : `${name.slice(0, dot)} (${n})${name.slice(dot)}`;
}
