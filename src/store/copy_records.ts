import { type Copied, insertRow } from "./copy_rows.ts";
import { type Database, rows } from "./database.ts";

/** Copies all records; those that are there already stay as they are. @throws {DatabaseFailure} */
export async function copyRecords(from: Database, to: Database): Promise<Copied> {
  const found = await from.read(() => rows("SELECT * FROM record", {}));
  let added = 0;
  for (const record of found) {
    if (await to.change(() => insertRow("record", record))) added++;
  }
  return { added, present: found.length - added };
}
