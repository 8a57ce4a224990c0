import type { Row, Values, Work } from "./database.ts";
import { rows } from "./database.ts";

/** What became of rows that were to be copied. */
export interface Copied {
  readonly added: number;
  /** Those that existed already, and stay as they are. */
  readonly present: number;
}

/** Puts a row into a table of another database that has its columns. @returns Whether it was not there before. */
export function* insertRow(table: string, row: Row): Work<boolean> {
  const columns = Object.keys(row);
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${
    columns.map((column) => `:${column}`).join(", ")
  }) ON CONFLICT DO NOTHING RETURNING 1`;
  return (yield* rows(sql, valuesOf(row))).length > 0;
}

function valuesOf(row: Row): Values {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (value === null || typeof value === "string" || typeof value === "number") return [column, value];
      throw new TypeError(`column ${column} has neither text nor number`);
    }),
  );
}
