import type { Values } from "../database.ts";

/** A statement in the dialect of PostgreSQL, with the names of its parameters in their order: `$1` is the first. */
interface PostgresStatement {
  readonly text: string;
  readonly names: readonly string[];
}

/** What `:now` and `:clock` stand for: the clock that all instances share. */
const TIME: ReadonlyMap<string, string> = new Map([
  ["now", "(floor(extract(epoch FROM statement_timestamp()))::bigint)"],
  ["clock", "(floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)"],
]);

/** Translates what differs from SQLite: parameters by number, no named indexes, lists in JSON. */
export function forPostgres(sql: string, timeIsBound: boolean): PostgresStatement {
  const names: string[] = [];
  const number = (name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  };
  const text = sql
    .replace(/ INDEXED BY \w+/g, "")
    .replace(
      /\bSELECT value FROM json_each\(:(\w+)\)/g,
      "SELECT value FROM jsonb_array_elements_text(:$1::text::jsonb) AS each(value)",
    )
    .replace(/::|:([A-Za-z]\w*)/g, (whole, name?: string) => {
      if (name === undefined) return whole; // a cast
      const time = TIME.get(name);
      if (time === undefined) return number(name);
      return timeIsBound ? `${number(name)}::bigint` : time;
    });
  return { text, names };
}

/** The values of the parameters, in their order. @throws {TypeError} If one is missing. */
export function inOrder(names: readonly string[], values: Values): (string | number | null)[] {
  return names.map((name) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`no value for :${name}`);
    return value;
  });
}
