import assert from "node:assert/strict";
import { copyProgress } from "../../../src/command/files/copy_progress.ts";
import { recordedIo } from "../recorded_io.ts";

Deno.test("copyProgress() tells at most each second how far it is, how fast, and how long the rest takes", () => {
  const io = recordedIo();
  let now = 0.5;
  const tell = copyProgress(io, "Shares", 1000, () => now);
  for (const [at, done] of [[500, 50], [1000.5, 100], [1500, 150], [2000.5, 400]] as const) {
    now = at;
    tell(done);
  }
  assert.equal(
    io.err,
    "Shares: 100 of 1000, 100 a second, 9 s left\nShares: 400 of 1000, 200 a second, 3 s left\n",
  );
});
