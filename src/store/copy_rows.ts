import { type Database, type Row, rows, type Values, type Work } from "./database.ts";

/** What became of rows that were to be copied. */
export interface Copied {
  readonly added: number;
  /** Those that existed already, and stay as they are. */
  readonly present: number;
}

/** A table that is copied. */
export interface CopiedTable {
  readonly name: string;
  /** Both columns of its primary key. */
  readonly key: readonly [string, string];
  /** A table with details of its rows: it has the same two columns, and `key`, a number that the database gives. */
  readonly details?: string;
}

/** Keys that are looked for at a time in the other database. */
const KEYS_AT_A_TIME = 2000;

/** Rows that are put into a table by one statement. */
const ROWS_AT_A_TIME = 512;

/** Details that are read at a time: more than one row has. */
const DETAILS_AT_A_TIME = 10_000;

/**
 * Copies the rows of a table, each with its details or not at all; those that are there already stay as they are. What is
 * there is found out by keys alone, so that a second run is quick.
 * @param options.progress Receives, after each step, how many rows were dealt with.
 * @param options.first Statement that each change begins with.
 * @throws {DatabaseFailure}
 */
export async function copyRows(
  from: Database,
  to: Database,
  table: CopiedTable,
  { progress = () => {}, first }: {
    readonly progress?: (done: number) => void;
    readonly first?: string | undefined;
  } = {},
): Promise<Copied> {
  const { name, key: [outer, inner] } = table;
  const sql = `SELECT ${outer}, ${inner} FROM ${name} WHERE (${outer}, ${inner}) > (:outer, :inner)
    ORDER BY ${outer}, ${inner} LIMIT ${KEYS_AT_A_TIME}`;
  let [added, done, last] = [0, 0, { outer: "", inner: "" }];
  for (;;) {
    const keys = await from.read(() => rows(sql, last));
    for (const [group, inners] of grouped(keys, table)) {
      const absent = await absentOf(to, table, group, inners);
      for (let begin = 0; begin < absent.length;) {
        const some = absent.slice(begin, begin + ROWS_AT_A_TIME);
        const { copied, isNew } = await copySome(from, to, { ...table, first }, group, some);
        [added, begin] = [added + isNew, begin + copied];
        progress(done + inners.length - absent.length + begin);
      }
      done += inners.length;
      progress(done);
    }
    const end = keys.at(-1);
    if (keys.length < KEYS_AT_A_TIME || end === undefined) return { added, present: done - added };
    last = { outer: String(end[outer]), inner: String(end[inner]) };
  }
}

/** Keys by their first column. */
function grouped(keys: readonly Row[], { key: [outer, inner] }: CopiedTable): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const row of keys) {
    const group = groups.get(String(row[outer])) ?? [];
    groups.set(String(row[outer]), group);
    group.push(String(row[inner]));
  }
  return groups;
}

/** Keys that a table does not have. Asked for one by one: PostgreSQL might go through all of a group otherwise. */
async function absentOf(
  to: Database,
  { name, key: [outer, inner] }: CopiedTable,
  group: string,
  inners: readonly string[],
): Promise<string[]> {
  const sql = `SELECT wanted FROM (${GIVEN}) AS given
    WHERE (SELECT 1 FROM ${name} WHERE ${outer} = :outer AND ${inner} = wanted) IS NULL`;
  const absent = await to.read(() => rows(sql, { outer: group, inners: JSON.stringify(inners) }));
  return absent.map(({ wanted }) => String(wanted));
}

/**
 * Copies rows of one group, in one change.
 * @returns How many of the first were copied: fewer where they have many details; and how many of them were new.
 */
async function copySome(
  from: Database,
  to: Database,
  table: CopiedTable & { readonly first: string | undefined },
  group: string,
  inners: readonly string[],
): Promise<{ readonly copied: number; readonly isNew: number }> {
  const { name, details, key: [, inner] } = table;
  const found = await from.read(() => rows(...selection(`${name}.*`, name, table, group, inners)));
  const [more, order] = [`${inner}, key LIMIT ${DETAILS_AT_A_TIME}`, "ORDER BY"];
  const detailRows = details === undefined
    ? []
    : await from.read(() =>
      rows(...selection(`${details}.*`, details, table, group, inners, `${order} ${more}`))
    );
  // The last one may have more details than were read.
  const end = detailRows.length < DETAILS_AT_A_TIME
    ? inners.length
    : inners.indexOf(String(detailRows.at(-1)?.[inner]));
  const whole = new Set(inners.slice(0, end));
  const isWhole = (row: Row) => whole.has(String(row[inner]));
  const isNew = await to.change(function* () {
    if (table.first !== undefined) yield* rows(table.first, {});
    const made = yield* insertRows(name, found.filter(isWhole), inner);
    const news = new Set(made.map((row) => String(row[inner])));
    if (details !== undefined) {
      const ofNews = detailRows.filter((row) => news.has(String(row[inner]))).map(({ key: _, ...row }) =>
        row
      );
      yield* insertRows(details, ofNews, inner);
    }
    return news.size;
  });
  return { copied: end, isNew };
}

const GIVEN = "SELECT value AS wanted FROM json_each(:inners)";

/** What reads rows by their keys. */
function selection(
  columns: string,
  from: string,
  { key: [outer, inner] }: CopiedTable,
  group: string,
  inners: readonly string[],
  order = "",
): [sql: string, values: Values] {
  // SQLite joins in this order: it takes each key to the index, in the place of going through all of a group.
  const sql = `SELECT ${columns} FROM (${GIVEN}) AS given CROSS JOIN ${from}
    WHERE ${outer} = :outer AND ${inner} = wanted ${order}`;
  return [sql, { outer: group, inners: JSON.stringify(inners) }];
}

/** Puts rows into a table that has their columns. @returns The column of those that were not there before. */
export function* insertRows(table: string, all: readonly Row[], returned: string): Work<readonly Row[]> {
  if (all.length === 0) return all;
  const columns = Object.keys(all[0] ?? {});
  for (const row of all) for (const column of columns) checkPlain(row[column], column);
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${
    columns.map((column) => `value ->> '${column}'`).join(", ")
  } FROM json_each(:rows) WHERE TRUE ON CONFLICT DO NOTHING RETURNING ${returned}`;
  return yield* rows(sql, { rows: JSON.stringify(all) });
}

/** @throws {TypeError} */
function checkPlain(value: unknown, column: string): void {
  if (value === null || typeof value === "string" || typeof value === "number") return;
  throw new TypeError(`column ${column} has neither text nor number`);
}
