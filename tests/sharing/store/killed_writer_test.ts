import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openShareStore } from "../../../src/sharing/store/share_store.ts";
import { LONG, note } from "../../long/results.ts";

/** Number of rounds; 200 with `AUTHSERVER_LONG_TESTS=1`. */
const ROUNDS = LONG ? 200 : 3;

/** Kills a writer once it has written enough. @returns Its acknowledged shares. */
async function writeAndKill(file: string, round: number): Promise<Map<string, number>> {
  const writer = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", new URL("writer.ts", import.meta.url).pathname, file, `round${round}`],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const enough = 5 + (round * 37) % 60;
  let text = "";
  let killed = false;
  for await (const chunk of writer.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (!killed && text.split("\n").length > enough) {
      writer.kill("SIGKILL");
      killed = true;
    }
  }
  assert.equal((await writer.status).signal, "SIGKILL");
  const lines = text.split("\n").slice(0, -1).map((line) => line.split(" "));
  return new Map(lines.map(([id = "", i]) => [id, Number(i)]));
}

Deno.test(`openShareStore() loses no acknowledged share when its process is killed, ${ROUNDS} rounds`, async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/shares.sqlite`;
  try {
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [id, i] of await writeAndKill(file, round)) acknowledged.set(id, i);
      const store = openShareStore(file, Date.now);
      for (const [id, i] of acknowledged) {
        const share = await store.get("A", id);
        assert.ok(share, `share ${id} of round ${round} is lost`);
        assert.equal(share.accessCount, i % 3 === 0 ? 1 : 0);
        assert.equal(share.usesLeft, i % 2 === 0 ? (i % 3 === 0 ? 0 : 1) : undefined);
      }
      store.close();
      const database = new DatabaseSync(file, { readOnly: true });
      assert.deepEqual(database.prepare("PRAGMA integrity_check").all().map((row) => row.integrity_check), [
        "ok",
      ]);
      assert.deepEqual(database.prepare("PRAGMA foreign_key_check").all(), []);
      database.close();
    }
    assert.ok(acknowledged.size >= ROUNDS * 5);
    note("trials", {
      trial: "`kill -9` while shares are written",
      done: `${ROUNDS} processes killed`,
      outcome: `all ${acknowledged.size} acknowledged shares exist, the database is intact`,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
