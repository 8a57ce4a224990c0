import assert from "node:assert/strict";
import { createSecret } from "../../src/daemon/create_secret.ts";

Deno.test("createSecret() makes 24 letters and digits, each equally likely", () => {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  const rounds = 10_000;
  for (let i = 0; i < rounds; i++) {
    const text = createSecret().reveal();
    assert.match(text, /^[A-Za-z0-9]{24}$/);
    seen.add(text);
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  assert.equal(seen.size, rounds);
  assert.equal(counts.size, 62);
  // The mean is 3871 and the standard deviation 62; without rejection the first 8 letters would come 4687 times.
  for (const [letter, count] of counts) {
    assert(Math.abs(count - rounds * 24 / 62) < 450, `${letter}: ${count}`);
  }
});
