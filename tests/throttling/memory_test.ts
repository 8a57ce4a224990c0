import assert from "node:assert/strict";
import { KnownClients, ThrottlingMemory } from "../../src/throttling/memory.ts";
import { tooManyFailures } from "../../src/throttling/operator_bans.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 1,
  maxDelaySeconds: 900,
};

Deno.test("ThrottlingMemory remembers at most 50,000 known clients", () => {
  const memory = new ThrottlingMemory({ config: CONFIG, steady: () => 1000 });
  for (let i = 0; i < 50_002; i++) memory.known.add(`${i}\0user ${i}`);
  assert.equal(memory.known.entries(60_000).length, 50_000);
});

Deno.test("KnownClients renews a key at most once per thousandth of its lifetime", () => {
  const time = { at: 1000 };
  const keys = new KnownClients(1_000_000, 9, () => time.at);
  assert.equal(keys.add("a"), 1000);
  time.at += 999;
  assert.equal(keys.add("a"), undefined);
  time.at += 1;
  assert.equal(keys.add("a"), 2000);
});

Deno.test("KnownClients ignores times earlier than the one it has", () => {
  const keys = new KnownClients(1_000_000, 9, () => 5000);
  assert.equal(keys.record("a", 4000), true);
  assert.equal(keys.record("a", 1000), false);
  assert.equal(keys.record("a", 4999), false);
  assert.deepEqual(keys.entries(9), [["a", 4000]]);
  assert.equal(keys.record("a", 5000), true);
  assert.deepEqual(keys.entries(9), [["a", 5000]]);
});

Deno.test("KnownClients counts the remaining keys of a group when it drops one", () => {
  const time = { at: 1000 };
  const keys = new KnownClients(1_000_000, 20, () => time.at++);
  for (const key of ["here\0ann", "here\0ben", "there\0cid"]) keys.add(key);
  for (let i = 0; i < 18; i++) keys.add(`elsewhere ${i}\0eve ${i}`);
  assert.deepEqual([keys.countOf("here"), keys.countOf("there")], [1, 1]);
  keys.add("there\0dan");
  assert.deepEqual([keys.countOf("here"), keys.countOf("there")], [0, 2]);
});

for (
  const [who, keyOf] of [
    ["an account at many addresses", (i: number) => `2001:db8:${i.toString(16)}::/64\0mallory`],
    ["an address with many tokens", (i: number) => `tokens 192.0.2.7\0token ${i}`],
  ] as const
) {
  Deno.test(`KnownClients drops no other keys for ${who}`, () => {
    const time = { at: 1000 };
    const keys = new KnownClients(1_000_000, 100, () => time.at++);
    for (let i = 0; i < 89; i++) keys.add(`198.51.100.${i}\0user ${i}`);
    const before = keys.entries(100);
    for (let i = 0; i < 200; i++) {
      if (i % 3 === 0) keys.add(keyOf(i));
      else keys.record(keyOf(i), time.at++);
    }
    assert.deepEqual(keys.entries(100).slice(-89), before);
    assert.equal(keys.entries(100).length, 99);
    time.at += 1_000_000;
    for (let i = 200; i < 290; i++) keys.add(keyOf(i));
    assert(keys.has(keyOf(289)), "once its former keys have ended");
  });
}

Deno.test("tooManyFailures() rounds the wait up to whole seconds, at least one", () => {
  for (const [waitMs, seconds] of [[1, "1"], [1000, "1"], [1001, "2"], [60_000, "60"]] as const) {
    assert.equal(tooManyFailures(waitMs, "user").headers["Retry-After"], seconds);
  }
});
