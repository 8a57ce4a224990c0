/** How many cases each parser gets: a million in `deno task test:long`, ten thousand otherwise. */
export const CASES = Deno.env.get("AUTHSERVER_LONG_TESTS") === undefined ? 10_000 : 1_000_000;
