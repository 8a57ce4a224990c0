import type { Entry } from "../../daemon/session/entry.ts";
import { invalidRequest } from "../invalid_request.ts";

/** Entries of one part of a listing at most. */
export const MOST_ENTRIES = 5000;

/** Entries that are put in order at a time: among those that are in order already, which is soon done. */
const AT_A_TIME = 500;

/** Characters of a name at most; a file system allows 255 bytes. */
const MOST_IN_NAME = 1024;

/** Characters of a name that are put in a form for people, which can be 18 times as long. */
const MOST_IN_KEY = 255;

/** The place of an entry in the order of a listing. */
interface Place {
  readonly directory: boolean;
  readonly name: string;
  /** The name in a form whose order as text is the order for people. */
  readonly key: string;
}

/**
 * One part of a directory's listing: the first entries behind a place, in the order of their names and directories first,
 * whatever the order in which they come. Little more than the part is ever held.
 */
export class ListingPart {
  readonly #after: Place | undefined;
  readonly #most: number;
  #held: { readonly place: Place; readonly entry: Entry }[] = [];
  /** The last entry of the part so far, once there are enough. */
  #last: Place | undefined;

  /** @param after Name of the entry before the part, with a slash behind a directory; absent: from the start. */
  constructor(after?: string, most = MOST_ENTRIES) {
    this.#after = after === undefined ? undefined : parsePlace(after);
    this.#most = most;
  }

  add(entry: Entry): void {
    const place = placeOf(entry.name, entry.kind === "directory");
    if (this.#after !== undefined && inOrder(place, this.#after) <= 0) return;
    if (this.#last !== undefined && inOrder(place, this.#last) > 0) return;
    this.#held.push({ place, entry });
    // One more than the part has tells that there is another part.
    if (this.#held.length > this.#most + AT_A_TIME) this.#cut(this.#most + 1);
  }

  /** The entries in order, and the `after` of the next part, if there is one. */
  finish(): { readonly entries: readonly Entry[]; readonly next?: string } {
    this.#cut(this.#most + 1);
    const entries = this.#held.slice(0, this.#most).map(({ entry }) => entry);
    const last = entries.at(-1);
    return this.#held.length > this.#most && last !== undefined
      ? { entries, next: `${last.name}${last.kind === "directory" ? "/" : ""}` }
      : { entries };
  }

  #cut(length: number): void {
    this.#held.sort((a, b) => inOrder(a.place, b.place));
    if (this.#held.length < length) return;
    this.#held.length = length;
    this.#last = this.#held.at(-1)?.place;
  }
}

/** @throws {ERR_INVALID_REQUEST} */
function parsePlace(after: string): Place {
  const directory = after.endsWith("/");
  const name = directory ? after.slice(0, -1) : after;
  if (name === "" || name.includes("/") || name.length > MOST_IN_NAME) {
    throw invalidRequest("after: expected the name of an entry");
  }
  return placeOf(name, directory);
}

/** Letters count the same in either case, and numbers by their value: each is led by how long it is. */
function placeOf(name: string, directory: boolean): Place {
  const key = name.slice(0, MOST_IN_KEY).normalize("NFKD").toLowerCase().replace(/[0-9]+/g, (digits) => {
    const number = digits.slice(leadingZeros(digits));
    return `0${String.fromCharCode(48 + number.length)}${number}`;
  });
  return { directory, name, key };
}

function leadingZeros(digits: string): number {
  let zeros = 0;
  while (digits[zeros] === "0" && zeros < digits.length - 1) zeros++;
  return zeros;
}

function inOrder(a: Place, b: Place): number {
  if (a.directory !== b.directory) return a.directory ? -1 : 1;
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
