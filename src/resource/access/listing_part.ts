import { compare } from "../../model/text.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { ListingQuery, Order } from "./listing_query.ts";

/** Entries in one part of a listing. */
export const MAX_ENTRIES = 5000;

const SORT_BATCH = 500; // entries sorted at a time: most are then sorted already, which is fast
const MAX_NAME_LENGTH = 1024; // characters; a file system allows 255 bytes
const MAX_KEY_LENGTH = 255; // characters of a name in its sort key, which can be 18 times as long

interface Place {
  readonly directory: boolean;
  readonly value: number; // size or time; 0 if only names decide
  readonly name: string;
  readonly key: string; // name in a form that sorts as people expect
}

/**
 * One part of a directory listing: the first entries after a place, directories first. Accepts entries in any order, and
 * holds little more than the part. A place is the name of the preceding entry (of a directory with a slash), after its
 * size or time and a colon if the listing is sorted by these.
 */
export class ListingPart {
  readonly #after: Place | undefined;
  readonly #find: string;
  #held: { readonly place: Place; readonly entry: Entry }[] = [];
  #last: Place | undefined;

  /** @throws {ERR_INVALID_REQUEST} If `after` is not a place. */
  constructor(readonly query: ListingQuery, readonly most = MAX_ENTRIES) {
    this.#after = query.after === undefined ? undefined : parsePlace(query.after, query.order);
    this.#find = forPeople(query.find);
  }

  add(entry: Entry): void {
    const place = placeOf(entry, this.query.order);
    if (this.#find !== "" && !forPeople(place.name).includes(this.#find)) return;
    if (this.#after !== undefined && this.#compare(place, this.#after) <= 0) return;
    if (this.#last !== undefined && this.#compare(place, this.#last) > 0) return;
    this.#held.push({ place, entry });
    // One extra entry shows that another part follows.
    if (this.#held.length > this.most + SORT_BATCH) this.#cut(this.most + 1);
  }

  /** Reads a directory. @returns The part, the `after` of the next one, and the number of omitted entries. */
  async read(session: Pick<DaemonSession, "list">, directory: string) {
    let omitted = 0;
    const { complete, unreadable } = await session.list(directory, (entry) => {
      if (entry.kind === "special") omitted++;
      else this.add(entry);
    });
    const { entries, next } = this.finish();
    return { entries, next, complete: complete && next === undefined, omitted: omitted + unreadable };
  }

  finish(): { readonly entries: readonly Entry[]; readonly next?: string } {
    this.#cut(this.most + 1);
    const shown = this.#held.slice(0, this.most);
    const entries = shown.map(({ entry }) => entry);
    const last = shown.at(-1)?.place;
    if (last === undefined || this.#held.length <= this.most) return { entries };
    const value = this.query.order === "name" ? "" : `${last.value}:`;
    return { entries, next: `${value}${last.name}${last.directory ? "/" : ""}` };
  }

  #cut(length: number): void {
    this.#held.sort((a, b) => this.#compare(a.place, b.place));
    if (this.#held.length < length) return;
    this.#held.length = length;
    this.#last = this.#held.at(-1)?.place;
  }

  #compare(a: Place, b: Place): number {
    if (a.directory !== b.directory) return compare(b.directory, a.directory);
    return this.query.descending ? inOrder(b, a) : inOrder(a, b);
  }
}

function placeOf({ name, kind, size, modified }: Entry, order: Order): Place {
  const directory = kind === "directory";
  const value = order === "modified" ? Number(modified ?? 0) : order === "size" && !directory ? size : 0;
  return { directory, value, name, key: orderKey(name) };
}

function parsePlace(after: string, order: Order): Place {
  const value = order === "name" ? "" : /^\d{1,16}:/.exec(after)?.[0];
  if (value === undefined) throw invalidRequest(`after: expected ${order} and name of an entry`);
  const directory = after.endsWith("/");
  const name = after.slice(value.length, directory ? -1 : undefined);
  if (name === "" || name.includes("/") || name.length > MAX_NAME_LENGTH) {
    throw invalidRequest("after: expected the name of an entry");
  }
  return { directory, value: Number(value.slice(0, -1)), name, key: orderKey(name) };
}

/** Folds case and separates diacritics. */
function forPeople(name: string): string {
  return name.slice(0, MAX_KEY_LENGTH).normalize("NFKD").toLowerCase();
}

/** Folds case and prefixes each number with its length. */
function orderKey(name: string): string {
  return forPeople(name).replace(/[0-9]+/g, (digits) => {
    const number = digits.slice(leadingZeros(digits));
    return `0${String.fromCharCode(48 + number.length)}${number}`;
  });
}

function leadingZeros(digits: string): number {
  let zeros = 0;
  while (digits[zeros] === "0" && zeros < digits.length - 1) zeros++;
  return zeros;
}

function inOrder(a: Place, b: Place): number {
  return compare(a.value, b.value) || compare(a.key, b.key) || compare(a.name, b.name);
}
