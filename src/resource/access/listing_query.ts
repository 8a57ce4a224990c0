import { invalidRequest } from "../invalid_request.ts";

/** By what a listing can be in order. */
export const ORDERS = ["name", "size", "modified"] as const;

/** One of {@link ORDERS}. */
export type Order = typeof ORDERS[number];

/** Which entries of a directory are wanted, and in which order; the query of a listing's address. */
export interface ListingQuery {
  readonly order: Order;
  readonly descending: boolean;
  /** Text that the names have in them, whatever its case; empty: all. */
  readonly find: string;
  /** Place behind which the part begins, see `ListingPart`; absent: from the start. */
  readonly after?: string;
}

/** Characters of a search at most: a name has 255 bytes on most file systems. */
const MOST_IN_SEARCH = 255;

/**
 * Reads `sort`, `desc`, `find` and `after`; whatever else is there is somebody else's.
 * @throws {ERR_INVALID_REQUEST}
 */
export function parseListingQuery(query: URLSearchParams): ListingQuery {
  const sort = once(query, "sort") ?? "name";
  const order = ORDERS.find((known) => known === sort);
  if (order === undefined) throw invalidRequest(`sort: expected ${ORDERS.join(", ")}`);
  const find = once(query, "find") ?? "";
  if (find.length > MOST_IN_SEARCH) {
    throw invalidRequest(`find: expected at most ${MOST_IN_SEARCH} characters`);
  }
  return { order, descending: once(query, "desc") !== undefined, find, after: once(query, "after") };
}

/** The query of the same listing with other terms; empty for the plain one. */
export function listingQueryText({ order, descending, find, after }: ListingQuery): string {
  const query = new URLSearchParams();
  if (order !== "name") query.set("sort", order);
  if (descending) query.set("desc", "");
  if (find !== "") query.set("find", find);
  if (after !== undefined) query.set("after", after);
  return query.toString().replaceAll("+", "%20");
}

function once(query: URLSearchParams, name: string): string | undefined {
  const [value, again] = query.getAll(name);
  if (again !== undefined) throw invalidRequest(`${name}: expected once in the query`);
  return value;
}
