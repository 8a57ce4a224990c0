import { type Copied, insertRow } from "../../store/copy_rows.ts";
import { type Database, row, rows } from "../../store/database.ts";

/**
 * Copies all shares, each with its uses or not at all, and the uploads to them; those that are there already stay as they are, with what was used of
 * them since.
 * @throws {DatabaseFailure}
 */
export async function copyShares(from: Database, to: Database): Promise<Copied> {
  const ids = await from.read(() => rows("SELECT server, id FROM share ORDER BY server, created, id", {}));
  let added = 0;
  for (const { server, id } of ids) {
    const which = { server: String(server), id: String(id) };
    const share = await from.read(() =>
      row("SELECT * FROM share WHERE server = :server AND id = :id", which)
    );
    if (share === undefined) continue; // ended meanwhile
    const uses = await from.read(() =>
      rows("SELECT * FROM share_use WHERE server = :server AND id = :id ORDER BY key", which)
    );
    const isNew = await to.change(function* () {
      if (!(yield* insertRow("share", share))) return false;
      for (const { key: _, ...use } of uses) yield* insertRow("share_use", use);
      return true;
    });
    if (isNew) added++;
  }
  for (const upload of await from.read(() => rows("SELECT * FROM share_upload", {}))) {
    await to.change(() => insertRow("share_upload", upload));
  }
  return { added, present: ids.length - added };
}
