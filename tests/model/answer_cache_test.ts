import assert from "node:assert/strict";
import { type Answer, AnswerCache } from "../../src/model/answer_cache.ts";

const never = new AbortController().signal;

function subject(capacity?: number) {
  const time = { now: 1_000, date: 1_700_000_000_000 };
  const asked: string[] = [];
  const cache = new AnswerCache<string>({
    clock: () => time.date,
    elapsed: () => time.now,
    capacity,
  });
  const get = (credential: string, { good = true, lifetime = 100, endsAt = Infinity } = {}) =>
    cache.get([credential], () => {
      asked.push(credential);
      const answer: Answer<string> = { value: `of ${credential}`, good, lifetimeMs: lifetime, endsAt };
      return Promise.resolve(answer);
    }, never);
  return { time, asked, cache, get };
}

Deno.test("AnswerCache returns a cached answer until it expires", async () => {
  const { time, asked, get } = subject();
  assert.equal(await get("a"), "of a");
  time.now += 99;
  assert.equal(await get("a"), "of a");
  assert.deepEqual(asked, ["a"]);
  time.now += 1;
  await get("a");
  assert.deepEqual(asked, ["a", "a"]);
});

Deno.test("AnswerCache keeps answers for its time, independently of the system clock", async () => {
  const { time, asked, get } = subject();
  await get("a");
  time.date += 7_200_000;
  await get("a");
  assert.equal(asked.length, 1);
  time.date -= 14_400_000;
  time.now += 100;
  await get("a");
  assert.equal(asked.length, 2);
});

Deno.test("AnswerCache keeps no answer beyond its expiry date", async () => {
  const { time, asked, get } = subject();
  const endsAt = time.date + 10;
  await get("a", { endsAt });
  time.date += 9;
  await get("a", { endsAt });
  assert.equal(asked.length, 1);
  time.date += 1;
  await get("a", { endsAt });
  await get("a", { endsAt });
  assert.equal(asked.length, 3);
});

Deno.test("AnswerCache keeps no answer that has already expired", async () => {
  const { asked, get } = subject();
  await get("a", { lifetime: 0 });
  await get("a", { lifetime: -5 });
  assert.equal(asked.length, 2);
});

Deno.test("AnswerCache forgets the least recently used answer, separately for good and bad answers", async () => {
  const { asked, get } = subject(2);
  for (const credential of ["a", "b", "a", "c"]) await get(credential);
  for (let guess = 0; guess < 50; guess++) await get(`guess ${guess}`, { good: false });
  asked.length = 0;
  for (const credential of ["a", "c", "guess 49", "guess 48", "b"]) await get(credential);
  assert.deepEqual(asked, ["b"]);
  await get("guess 47");
  assert.deepEqual(asked, ["b", "guess 47"]);
});

Deno.test("AnswerCache for passwords drops the good answer for a user at any other question about that user", async () => {
  const cache = new AnswerCache<string>({ clock: Date.now, guessable: true });
  const [down, up] = [() => Promise.reject(new Error("down")), (good: boolean) => async () => {
    return await Promise.resolve({ value: String(good), good, lifetimeMs: 100 });
  }];
  await cache.get(["ann", "right"], up(true), never);
  await cache.get(["ben", "right"], up(true), never);
  await assert.rejects(cache.get(["ann", "guess"], down, never), /down/);
  await assert.rejects(cache.get(["ann", "right"], down, never), /down/);
  await cache.get(["ann", "right"], up(true), never);
  await cache.get(["ann", "wrong"], up(false), never);
  assert.equal(await cache.get(["ann", "wrong"], down, never), "false");
  await assert.rejects(cache.get(["ann", "right"], down, never), /down/);
  assert.equal(await cache.get(["ben", "right"], down, never), "true");
});

Deno.test("AnswerCache does not cache failures", async () => {
  const { cache, get } = subject();
  await assert.rejects(cache.get(["a"], () => Promise.reject(new Error("down")), never), /down/);
  assert.equal(await get("a"), "of a");
});

Deno.test("AnswerCache distinguishes credentials by their parts", async () => {
  const { cache } = subject();
  const value = (text: string) => () => Promise.resolve({ value: text, good: true, lifetimeMs: 1000 });
  const parts = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["a,b", "c"], ["a", "b,c"], ['a","b', "c"], [
    "a",
    'b","c',
  ]];
  for (const [at, credential] of parts.entries()) await cache.get(credential, value(String(at)), never);
  for (const [at, credential] of parts.entries()) {
    assert.equal(await cache.get(credential, value("other"), never), String(at));
  }
});

Deno.test("AnswerCache cancels pending requests when it closes, and caches nothing afterwards", async () => {
  const { cache, get, asked } = subject();
  await get("a");
  const hanging = cache.get(
    ["b"],
    (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    never,
  );
  cache.close();
  await assert.rejects(hanging, /closing/);
  await get("a");
  await get("a");
  assert.equal(asked.length, 3);
});

Deno.test("AnswerCache holds no credential in clear text", async () => {
  const { cache } = subject();
  await cache.get(
    ["s3cr3t"],
    () => Promise.resolve({ value: "x", good: true, lifetimeMs: 1000 }),
    never,
  );
  assert.doesNotMatch(Deno.inspect(cache, { showHidden: true, depth: 9 }), /s3cr3t/);
});
