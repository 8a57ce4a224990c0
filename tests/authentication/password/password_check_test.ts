import assert from "node:assert/strict";
import { matchesMd5, md5Digest } from "../../../src/authentication/password/md5_hash.ts";
import { type Matchers, PasswordCheck } from "../../../src/authentication/password/password_check.ts";
import {
  parsePasswordFile,
  type PasswordTable,
} from "../../../src/authentication/password/password_table.ts";
import {
  formatScrypt,
  hashWithScrypt,
  matchesScrypt,
} from "../../../src/authentication/password/scrypt_hash.ts";
import { TooMuchWork } from "../../../src/authentication/password/work_slots.ts";

const MD5_LINE = `md5:${md5Digest("salt", "right")}:salt:CN=M`;
const [CHEAP, DEAR] = await Promise.all(
  [10, 11].map(async (ln) => formatScrypt(await hashWithScrypt("right", { ln, r: 8, p: 1 }))),
);

const TABLES: Record<string, PasswordTable> = {
  md5: await parsePasswordFile(`${MD5_LINE}\noff::s:CN=O`, ""),
  scrypt: await parsePasswordFile(`cheap:${CHEAP}::CN=C\noff::s:CN=O`, ""),
  mixed: await parsePasswordFile(`${MD5_LINE}\ncheap:${CHEAP}::CN=C\ndear:${DEAR}::CN=D\noff::s:CN=O`, ""),
};

/** A check that notes its work, and a clock to move. */
function counted() {
  const work: string[] = [];
  const matchers: Matchers = {
    md5(stored, password) {
      work.push("md5");
      return matchesMd5(stored, password);
    },
    scrypt(stored, password) {
      work.push(`ln=${stored.cost.ln}`);
      return matchesScrypt(stored, password);
    },
  };
  const clock = { now: 1_000_000 };
  const check = new PasswordCheck({ now: () => clock.now, matchers });
  const { signal } = new AbortController();
  return {
    clock,
    /** Whether the password is right, and the work done to find out. */
    async ask(table: PasswordTable | undefined, user: string, password: string): Promise<[boolean, string]> {
      assert.ok(table);
      work.length = 0;
      const entry = await check.entryOf(table, user, password, signal);
      return [entry !== undefined, work.toSorted().join(" ")];
    },
  };
}

for (
  const [table, users, expected] of [
    ["md5", ["md5", "off", "nobody"], "md5"],
    ["scrypt", ["cheap", "off", "nobody"], "ln=10 md5"],
    ["mixed", ["md5", "cheap", "dear", "off", "nobody"], "ln=10 ln=11 md5"],
  ] as const
) {
  for (const user of users) {
    Deno.test(`PasswordCheck in a file with ${table} entries fails for ${user} with the work of everybody`, async () => {
      const { ask } = counted();
      assert.deepEqual(await ask(TABLES[table], user, "wrong"), [false, expected]);
      assert.deepEqual(await ask(TABLES[table], user, ""), [false, expected]);
    });
  }
}

Deno.test("PasswordCheck succeeds with no more work than the user's own hash", async () => {
  const { ask } = counted();
  assert.deepEqual(await ask(TABLES.mixed, "md5", "right"), [true, "md5"]);
  assert.deepEqual(await ask(TABLES.mixed, "dear", "right"), [true, "ln=11 md5"]);
});

Deno.test("PasswordCheck remembers a right scrypt password for five minutes, and no wrong one", async () => {
  const { ask, clock } = counted();
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "ln=10 md5"]);
  clock.now += 299_999;
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "md5"]);
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "wrong"), [false, "ln=10 md5"]);
  assert.deepEqual(await ask(TABLES.scrypt, "nobody", "right"), [false, "ln=10 md5"]);
  clock.now += 1;
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "ln=10 md5"]);
});

Deno.test("PasswordCheck does not stretch what it remembers by using it", async () => {
  const { ask, clock } = counted();
  await ask(TABLES.scrypt, "cheap", "right");
  for (let minute = 1; minute < 5; minute++) {
    clock.now += 60_000;
    assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "md5"]);
  }
  clock.now += 60_000;
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "ln=10 md5"]);
});

Deno.test("PasswordCheck forgets all passwords when the file is read again", async () => {
  const { ask } = counted();
  const again = await parsePasswordFile(`cheap:${CHEAP}::CN=C`, "");
  await ask(TABLES.scrypt, "cheap", "right");
  assert.deepEqual(await ask(again, "cheap", "right"), [true, "ln=10 md5"]);
});

Deno.test("PasswordCheck does the work once for a client that starts with many requests at once", async () => {
  let runs = 0;
  const check = new PasswordCheck({
    now: Date.now,
    matchers: { md5: matchesMd5, scrypt: (stored, password) => (runs++, matchesScrypt(stored, password)) },
  });
  const { signal } = new AbortController();
  const table = TABLES.scrypt;
  assert.ok(table);
  const entries = await Promise.all(
    Array.from({ length: 40 }, () => check.entryOf(table, "cheap", "right", signal)),
  );
  assert.ok(entries.every((entry) => entry?.dn === "CN=C"));
  assert.ok(runs <= 2, `${runs} runs`);
});

Deno.test("PasswordCheck bounds the work that waits, for known and unknown users alike", async () => {
  const hold = Promise.withResolvers<boolean>();
  let running = 0;
  const check = new PasswordCheck({
    now: Date.now,
    matchers: { md5: matchesMd5, scrypt: () => (running++, hold.promise) },
  });
  const { signal } = new AbortController();
  const table = TABLES.mixed;
  assert.ok(table);
  const waiting = Array.from({ length: 66 }, () => check.entryOf(table, "nobody", "x", signal));
  assert.equal(running, 2);
  for (const user of ["nobody", "cheap", "md5"]) {
    await assert.rejects(check.entryOf(table, user, "x", signal), TooMuchWork);
  }
  assert.equal((await check.entryOf(table, "md5", "right", signal))?.dn, "CN=M");
  hold.resolve(false);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
  assert.equal(await check.entryOf(table, "nobody", "x", signal), undefined);
});

Deno.test("PasswordCheck lets a caller who goes leave the queue", async () => {
  const hold = Promise.withResolvers<boolean>();
  let running = 0;
  const check = new PasswordCheck({
    now: Date.now,
    matchers: { md5: matchesMd5, scrypt: () => (running++, hold.promise) },
  });
  const table = TABLES.scrypt;
  assert.ok(table);
  const stays = new AbortController().signal;
  const goes = new AbortController();
  const begun = [1, 2].map(() => check.entryOf(table, "nobody", "x", goes.signal));
  const left = check.entryOf(table, "nobody", "x", goes.signal);
  const kept = check.entryOf(table, "nobody", "x", stays);
  goes.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  hold.resolve(false);
  assert.deepEqual(await Promise.all([...begun, kept]), [undefined, undefined, undefined]);
  assert.equal(running, 3);
});
