import { type Database, type Row, row, rows, type SqlSteps } from "../database.ts";
import { recordOf } from "../database_record_store.ts";
import type { ReadRecords } from "../cached_records.ts";

const PAGE = 5000; // most records per statement
/** Most transaction ids that a crash can lose before they are on disk; later transactions then use them again. */
const LOST_IDS = 10_000;

const SQL = {
  /** All earlier transactions have ended, so that later statements see what they wrote. */
  asOf: `SELECT txid_snapshot_xmin(txid_current_snapshot()) AS xmin`,
  all: `SELECT * FROM record WHERE kind = :kind AND key > :after AND ends > :now ORDER BY key LIMIT ${PAGE}`,
  since: `SELECT * FROM record WHERE kind LIKE 'revoked-%' AND written >= :earlier LIMIT ${PAGE}`,
} as const;

/** Reads revocations. @param since `until` of the last read; absent: reads all. @throws {DatabaseFailure} */
export async function readRevocations(
  database: Pick<Database, "read">,
  kinds: readonly string[],
  since?: number,
): Promise<ReadRecords> {
  const read = (work: () => SqlSteps<readonly Row[]>) =>
    database.read(work).then((found) =>
      found.map((each) => ({ kind: String(each["kind"]), record: recordOf(each) }))
    );
  const until = Number((await database.read(() => row(SQL.asOf, {})))?.["xmin"]);
  // After a failover, the server may use the ids of many lost transactions again.
  if (since !== undefined && until >= since) {
    const records = await read(() => rows(SQL.since, { earlier: since - LOST_IDS }));
    if (records.length < PAGE) return { records, until, isComplete: false };
  }
  const records = [];
  for (const kind of kinds) {
    for (let after = "";;) {
      const page = await read(() => rows(SQL.all, { kind, after }));
      records.push(...page);
      after = page.at(-1)?.record.key ?? "";
      if (page.length < PAGE) break;
    }
  }
  return { records, until, isComplete: true };
}
