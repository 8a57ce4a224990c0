import assert from "node:assert/strict";
import { password, token } from "./measurements/get.ts";
import { RECORD, type Taken } from "./performance_page.ts";
import { slower } from "./slower.ts";

const COMPARED = "processor time, relative to the bare program";

Deno.test("a login needs no more processor time, relative to a bare server in the same run, than docs/performance.json states", async () => {
  const before = JSON.parse(await Deno.readTextFile(RECORD));
  const now: Record<string, Taken> = {};
  for (const { name, run } of [password, token]) now[name] = { ...before[name], figures: await run() };
  assert.deepEqual(slower(before, now, ({ what }) => what === COMPARED), []);
});
