import { invalidRequest } from "../../model/http_error.ts";

/** Sort keys of a listing. */
export const ORDERS = ["name", "size", "modified"] as const;

export type Order = typeof ORDERS[number];

/** Order and selection of a listing; the query of its address. */
export interface ListingQuery {
  readonly order: Order;
  readonly descending: boolean;
  readonly find: string; // case-insensitive part of names; empty: all
  readonly after?: string; // place before the first entry, see `ListingPart`
}

const MAX_SEARCH_LENGTH = 255;

/** Parses `sort`, `desc`, `find` and `after`; ignores other parameters. @throws {ERR_INVALID_REQUEST} */
export function parseListingQuery(query: URLSearchParams): ListingQuery {
  const sort = once(query, "sort") ?? "name";
  const order = ORDERS.find((known) => known === sort);
  if (order === undefined) throw invalidRequest(`sort: expected ${ORDERS.join(", ")}`);
  const find = once(query, "find") ?? "";
  if (find.length > MAX_SEARCH_LENGTH) {
    throw invalidRequest(`find: expected at most ${MAX_SEARCH_LENGTH} characters`);
  }
  return { order, descending: once(query, "desc") !== undefined, find, after: once(query, "after") };
}

/** Returns the query text; empty for the default listing. */
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
