import assert from "node:assert/strict";
import { passwordLimiter, tokenLimiter } from "../../src/throttling/limiter.ts";
import { ThrottlingMemory } from "../../src/throttling/memory.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 3,
  baseDelaySeconds: 1,
  maxDelaySeconds: 60,
  windowSeconds: 600,
};

/** Returns the counters of a limiter, as table and key. */
function counted({ counters }: ReturnType<typeof passwordLimiter>) {
  return counters.map(({ counted, key, queueKey }) => [counted, key, queueKey]);
}

Deno.test("passwordLimiter() counts by user at address, address and user, and known users only by user at address", () => {
  const memory = new ThrottlingMemory({ config: CONFIG, steady: () => 1 });
  const own = ["pairs", "192.0.2.1\0ann", ""];
  const stranger = passwordLimiter(memory, " Ann", "192.0.2.1");
  assert.deepEqual(counted(stranger), [own, ["addresses", "192.0.2.1", "ann"], [
    "users",
    "ann",
    "192.0.2.1",
  ]]);
  assert.deepEqual([stranger.pair, stranger.known], ["192.0.2.1\0ann", false]);
  memory.known.add("192.0.2.1\0ann");
  const known = passwordLimiter(memory, "ann", "192.0.2.1");
  assert.deepEqual([counted(known), known.known], [[own], true]);
});

Deno.test("tokenLimiter() counts by claimant and address, known claimants only by claimant, or not at all if verified here", () => {
  const memory = new ThrottlingMemory({ config: CONFIG, steady: () => 1 });
  const pair = "tokens 192.0.2.1\0ann";
  const limiter = (asked: boolean) => tokenLimiter(memory, "192.0.2.1", { claimant: "ann", asked });
  const both = [["tokens", pair, "ann"], ["tokens", "192.0.2.1", "ann"]];
  assert.deepEqual([counted(limiter(true)), counted(limiter(false))], [both, both]);
  assert.equal(limiter(true).pair, pair);
  memory.known.add(pair);
  assert.deepEqual(counted(limiter(true)), [["tokens", pair, "ann"]]);
  assert.deepEqual(counted(limiter(false)), []);
});
