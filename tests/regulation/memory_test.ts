import assert from "node:assert/strict";
import { RegulationMemory } from "../../src/regulation/memory.ts";
import { RecentKeys } from "../../src/regulation/recent_keys.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 1,
  maxDelaySeconds: 900,
};

Deno.test("RegulationMemory remembers 50,000 of each kind, whoever comes: its memory has an end", () => {
  const memory = new RegulationMemory({ config: CONFIG, steady: () => 1000 });
  for (let i = 0; i < 50_002; i++) memory.known.add(`${i}\0user`);
  assert.equal(memory.known.size, 50_000);
});

Deno.test("RecentKeys notes a key that is seen again once in a thousandth of its lifetime", () => {
  const time = { at: 1000 };
  const keys = new RecentKeys({ lifetimeMs: 1_000_000, capacity: 9, elapsed: () => time.at });
  assert.equal(keys.add("a"), 1000);
  time.at += 999;
  assert.equal(keys.add("a"), undefined);
  time.at += 1;
  assert.equal(keys.add("a"), 2000);
});
