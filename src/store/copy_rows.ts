import { type Database, type Row, rows, type SqlSteps, type Values } from "./database.ts";

export interface Copied {
  readonly added: number;
  readonly present: number; // existed before, and left unchanged
}

export interface CopiedTable {
  readonly name: string;
  readonly key: readonly [string, string]; // both columns of its primary key
  readonly details?: string; // table of details with the same two columns and `key`, a generated number
}

const KEY_BATCH = 2000; // keys per query of the other database
const ROW_BATCH = 512;

const MAX_IN_FLIGHT = 2; // concurrent changes, while the next rows are read
const DETAIL_BATCH = 10_000; // details per query, more than any row has

/** Copies missing rows with their details, by key, so that a second run is quick. @throws {DatabaseFailure} @param first First statement of each change. */
export async function copyRows(
  from: Database,
  to: Database,
  table: CopiedTable,
  first?: string,
): Promise<Copied> {
  const { name, key: [outer, inner] } = table;
  const sql = `SELECT ${outer}, ${inner} FROM ${name} WHERE (${outer}, ${inner}) > (:outer, :inner)
    ORDER BY ${outer}, ${inner} LIMIT ${KEY_BATCH}`;
  let [added, done, last] = [0, 0, { outer: "", inner: "" }];
  const inFlight: Promise<void>[] = [];
  for (;;) {
    const keys = await from.read(() => rows(sql, last));
    for (const [group, inners] of grouped(keys, table)) {
      const absent = await absentOf(to, table, group, inners);
      done += inners.length;
      for (let begin = 0; begin < absent.length;) {
        const some = absent.slice(begin, begin + ROW_BATCH);
        const { count, insert } = await readSome(from, { ...table, first }, group, some);
        begin += count;
        if (inFlight.length === MAX_IN_FLIGHT) await inFlight.shift();
        const inserted = to.change(insert).then((isNew) => void (added += isNew));
        inserted.catch(() => {}); // awaited later
        inFlight.push(inserted);
      }
    }
    const end = keys.at(-1);
    if (keys.length < KEY_BATCH || end === undefined) break;
    last = { outer: String(end[outer]), inner: String(end[inner]) };
  }
  await Promise.all(inFlight);
  return { added, present: done - added };
}

function grouped(keys: readonly Row[], { key: [outer, inner] }: CopiedTable): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const row of keys) groups.getOrInsert(String(row[outer]), []).push(String(row[inner]));
  return groups;
}

/** Returns the keys that a table lacks, looked up one by one: PostgreSQL might scan a whole group otherwise. */
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

/** Reads rows of a group, fewer than given if they have many details. Returns their number, and work that inserts them. */
async function readSome(
  from: Database,
  { first, ...table }: CopiedTable & { readonly first: string | undefined },
  group: string,
  inners: readonly string[],
): Promise<{ readonly count: number; readonly insert: () => SqlSteps<number> }> {
  const { name, details, key: [, inner] } = table;
  const found = await from.read(() => rows(...selection(`${name}.*`, name, table, group, inners)));
  const order = `ORDER BY ${inner}, key LIMIT ${DETAIL_BATCH}`;
  const detailRows = details === undefined
    ? []
    : await from.read(() => rows(...selection(`${details}.*`, details, table, group, inners, order)));
  // The last row may have more details than were read.
  const count = detailRows.length < DETAIL_BATCH
    ? inners.length
    : inners.indexOf(String(detailRows.at(-1)?.[inner]));
  const complete = new Set(inners.slice(0, count));
  const insert = function* () {
    if (first !== undefined) yield* rows(first, {});
    const made = yield* insertRows(name, found.filter((row) => complete.has(String(row[inner]))), inner);
    const news = new Set(made.map((row) => String(row[inner])));
    const ofNews = detailRows.filter((row) => news.has(String(row[inner]))).map(({ key: _, ...row }) => row);
    if (details !== undefined) yield* insertRows(details, ofNews, inner);
    return news.size;
  };
  return { count, insert };
}

const GIVEN = "SELECT value AS wanted FROM json_each(:inners)";

function selection(
  columns: string,
  from: string,
  { key: [outer, inner] }: CopiedTable,
  group: string,
  inners: readonly string[],
  order = "",
): [sql: string, values: Values] {
  // SQLite joins in this order: an index lookup per key instead of a scan of the group.
  const sql = `SELECT ${columns} FROM (${GIVEN}) AS given CROSS JOIN ${from}
    WHERE ${outer} = :outer AND ${inner} = wanted ${order}`;
  return [sql, { outer: group, inners: JSON.stringify(inners) }];
}

/** Inserts rows with the table's columns. Returns a column of the new ones. */
export function* insertRows(table: string, all: readonly Row[], returned: string): SqlSteps<readonly Row[]> {
  if (all.length === 0) return all;
  const columns = Object.keys(all[0] ?? {});
  for (const row of all) for (const column of columns) checkPlain(row[column], column);
  const values = columns.map((column) => `value ->> '${column}'`).join(", ");
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values} FROM json_each(:rows) ` +
    `WHERE TRUE ON CONFLICT DO NOTHING RETURNING ${returned}`;
  return yield* rows(sql, { rows: JSON.stringify(all) });
}

function checkPlain(value: unknown, column: string): void {
  if (value === null || typeof value === "string" || typeof value === "number") return;
  throw new TypeError(`column ${column} has neither text nor number`);
}
