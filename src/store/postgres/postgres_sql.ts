import type { Values } from "../database.ts";
import { POSTGRES_SCHEMA } from "./postgres_connection.ts";

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

/** Up to how many rows of a table are counted one by one; SQLite counts all by its shortest index. */
const COUNTED_ROWS = 10_000;

/**
 * Translates what differs from SQLite: parameters by number, no named indexes, lists in JSON, and the number of rows of a
 * whole table, which is estimated if there are many: PostgreSQL would read all of them.
 */
export function forPostgres(sql: string, timeIsBound: boolean): PostgresStatement {
  const numbers = new Map<string, number>();
  const number = (name: string) => {
    const known = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, known);
    return `$${known}`;
  };
  const text = sql
    .replace(/ INDEXED BY \w+/g, "")
    .replace(
      /\(SELECT count\(\*\) FROM (\w+)\)/g,
      // As many rows in each page as when the table was looked at last; one that never was is counted.
      `(SELECT CASE WHEN n < ${COUNTED_ROWS} THEN n WHEN reltuples <= 0 OR relpages = 0 THEN (SELECT count(*) FROM $1)
         ELSE (reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::integer))::bigint END
         FROM (SELECT * FROM pg_class WHERE oid = '$1'::regclass) AS table_of,
              (SELECT count(*) AS n FROM (SELECT 1 FROM $1 LIMIT ${COUNTED_ROWS}) AS first_ones) AS counted)`,
    )
    .replace(
      /INSERT INTO (\w+) \(([^)]*)\) SELECT (?:value ->> '\w+'(?:, )?)* FROM json_each\(:(\w+)\) WHERE TRUE/g,
      `INSERT INTO $1 ($2) SELECT $2 FROM jsonb_populate_recordset(NULL::${POSTGRES_SCHEMA}.$1, :$3::text::jsonb)`,
    )
    .replace(
      /\bSELECT value( AS \w+)? FROM json_each\(:(\w+)\)/g,
      "SELECT value$1 FROM jsonb_array_elements_text(:$2::text::jsonb) AS each(value)",
    )
    .replace(/::|:([A-Za-z]\w*)/g, (whole, name?: string) => {
      if (name === undefined) return whole; // a cast
      const time = TIME.get(name);
      if (time === undefined) return number(name);
      return timeIsBound ? `${number(name)}::bigint` : time;
    });
  return { text, names: [...numbers.keys()] };
}

/** The values of the parameters, in their order. @throws {TypeError} If one is missing. */
export function inOrder(names: readonly string[], values: Values): (string | number | null)[] {
  return names.map((name) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`no value for :${name}`);
    return value;
  });
}
