import type { Values } from "../database.ts";
import { POSTGRES_SCHEMA } from "./postgres_connection.ts";

/** Expressions for `:now` and `:clock`: the database's clock. */
const TIME: ReadonlyMap<string, string> = new Map([
  ["now", "(floor(extract(epoch FROM statement_timestamp()))::bigint)"],
  ["clock", "(floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)"],
]);

const COUNTED_ROWS = 10_000; // largest exact row count; SQLite counts all rows by its shortest index

/**
 * Translates from SQLite: numbered parameters, no index hints, JSON lists, and estimated counts of large tables.
 * @returns Text and the names of its parameters in order from `$1`.
 */
export function forPostgres(
  sql: string,
  timeIsBound: boolean,
): { readonly text: string; readonly names: readonly string[] } {
  const numbers = new Map<string, number>();
  const number = (name: string) => `$${numbers.getOrInsert(name, numbers.size + 1)}`;
  const text = rowsFromJson(sql)
    .replace(/ INDEXED BY \w+/g, "")
    .replace(
      /\(SELECT count\(\*\) FROM (\w+)\)/g,
      // Estimates from the rows per page in the last statistics; counts a table without statistics.
      `(SELECT CASE WHEN n < ${COUNTED_ROWS} THEN n WHEN reltuples <= 0 OR relpages = 0 THEN (SELECT count(*) FROM $1)
         ELSE (reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::integer))::bigint END
         FROM (SELECT * FROM pg_class WHERE oid = '$1'::regclass) AS table_of,
              (SELECT count(*) AS n FROM (SELECT 1 FROM $1 LIMIT ${COUNTED_ROWS}) AS first_ones) AS counted)`,
    )
    .replace(/ FROM json_each\(:(\w+)\)/g, " FROM jsonb_array_elements_text(:$1::text::jsonb) AS each(value)")
    .replace(/::|:([A-Za-z]\w*)/g, (whole, name?: string) => {
      if (name === undefined) return whole; // a cast
      const time = TIME.get(name);
      if (time === undefined) return number(name);
      return timeIsBound ? `${number(name)}::bigint` : time;
    });
  return { text, names: [...numbers.keys()] };
}

/** Inserts the rows of a JSON list by the types of the table, in place of `value ->> '<column>'` for each column. */
function rowsFromJson(sql: string): string {
  const [begin, select, rows, end] = [
    "INSERT INTO ",
    ") SELECT value ->> ",
    " FROM json_each(:",
    ") WHERE TRUE",
  ];
  const [target, values, others] = sql.split(select, 3);
  const [, list = ""] = values?.split(rows, 2) ?? [];
  const [table, columns] = target?.slice(begin.length).split(" (", 2) ?? [];
  const at = list.indexOf(end);
  if (!sql.startsWith(begin) || at < 0 || others !== undefined) return sql;
  const parameter = `:${list.slice(0, at)}::text::json`;
  const records = `json_populate_recordset(NULL::${POSTGRES_SCHEMA}.${table}, ${parameter})`;
  return `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${records}${list.slice(at + end.length)}`;
}

/** Orders parameter values. @throws {TypeError} If one is missing. */
export function positionalValues(names: readonly string[], values: Values): (string | number | null)[] {
  return names.map((name) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`no value for :${name}`);
    return value;
  });
}
