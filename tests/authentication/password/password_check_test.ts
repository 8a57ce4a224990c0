import assert from "node:assert/strict";
import {
  formatScrypt,
  hashWithScrypt,
  matchesMd5,
  matchesScrypt,
  md5Digest,
} from "../../../src/authentication/password/stored_hash.ts";
import { type Matchers, PasswordCheck } from "../../../src/authentication/password/password_check.ts";
import {
  parsePasswordFile,
  type PasswordTable,
} from "../../../src/authentication/password/password_table.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import type { SemaphoreWaiter } from "../../../src/model/fair_semaphore.ts";

const MD5_LINE = `md5:${md5Digest("salt", "right")}:salt:CN=M`;
const [CHEAP, DEAR] = await Promise.all(
  [10, 11].map(async (ln) => formatScrypt(await hashWithScrypt("right", { ln, r: 8, p: 1 }))),
);

const NEVER = new AbortController().signal;
const stranger = (address = "192.0.2.17", signal = NEVER): SemaphoreWaiter => ({
  queueKey: address,
  known: false,
  signal,
});

const TABLES: Record<string, PasswordTable> = {
  md5: await parsePasswordFile(`${MD5_LINE}\noff::s:CN=O`, ""),
  scrypt: await parsePasswordFile(`cheap:${CHEAP}::CN=C\noff::s:CN=O`, ""),
  mixed: await parsePasswordFile(`${MD5_LINE}\ncheap:${CHEAP}::CN=C\ndear:${DEAR}::CN=D\noff::s:CN=O`, ""),
};

/** Makes a check that records its work, and a clock that the test moves. */
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
  const check = new PasswordCheck({ elapsed: () => clock.now, matchers });
  return {
    clock,
    /** Returns whether the password is right, and the work of the check. */
    async ask(table: PasswordTable | undefined, user: string, password: string): Promise<[boolean, string]> {
      assert.ok(table);
      work.length = 0;
      const entry = await check.entryOf(table, user, password, stranger());
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
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, ""]);
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "wrong"), [false, "ln=10 md5"]);
  assert.deepEqual(await ask(TABLES.scrypt, "nobody", "right"), [false, "ln=10 md5"]);
  clock.now += 1;
  assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, "ln=10 md5"]);
});

Deno.test("PasswordCheck does not remember a password longer because it is used", async () => {
  const { ask, clock } = counted();
  await ask(TABLES.scrypt, "cheap", "right");
  for (let minute = 1; minute < 5; minute++) {
    clock.now += 60_000;
    assert.deepEqual(await ask(TABLES.scrypt, "cheap", "right"), [true, ""]);
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
    matchers: { md5: matchesMd5, scrypt: (stored, password) => (runs++, matchesScrypt(stored, password)) },
  });
  const table = TABLES.scrypt;
  assert.ok(table);
  const entries = await Promise.all(
    Array.from({ length: 40 }, () => check.entryOf(table, "cheap", "right", stranger())),
  );
  assert.ok(entries.every((entry) => entry?.dn === "CN=C"));
  assert.equal(runs, 1);
});

/** Makes a check whose work lasts until the test ends it, and a list of the passwords in work. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const check = new PasswordCheck({
    matchers: {
      md5: matchesMd5,
      scrypt: (_, password) =>
        new Promise((resolve) => {
          begun.push(password);
          ends.push(() => resolve(false));
        }),
    },
  });
  const table = TABLES.scrypt;
  assert.ok(table);
  return {
    begun,
    check: (user: string, password: string, waiter = stranger()) =>
      check.entryOf(table, user, password, waiter),
    /** Ends all work, including work that begins then, and delivers the outcomes. */
    async endAll() {
      for (let next = ends.shift(); next !== undefined; next = ends.shift()) {
        next();
        for (let i = 0; i < 10; i++) await Promise.resolve();
      }
    },
  };
}

Deno.test("PasswordCheck lets eight of an address wait, for known and unknown users alike, and others beside them", async () => {
  const { check, begun, endAll } = held();
  const crowd = Array.from({ length: 10 }, (_, i) => check("nobody", `x${i}`));
  assert.deepEqual(begun, ["x0", "x1"]);
  for (const user of ["nobody", "cheap"]) {
    await assert.rejects(check(user, "x", stranger()), { code: "ERR_TOO_MUCH_WORK", status: 503 });
  }
  const other = check("cheap", "y", stranger("192.0.2.18"));
  await endAll();
  assert.deepEqual(await Promise.all([...crowd, other]), Array(11).fill(undefined));
  assert.deepEqual(begun.slice(0, 5), ["x0", "x1", "x2", "y", "x3"]);
  assert.equal(await Promise.race([check("nobody", "x"), endAll()]), undefined);
});

Deno.test("PasswordCheck looks at passwords of known users first, however many addresses are in the way", async () => {
  const { check, begun, endAll } = held();
  const strangers = Array.from({ length: 43 * 8 }, async (_, i) => {
    await check("nobody", `x${i}`, stranger(`198.51.100.${i % 43}`)).catch((error) => {
      assert.ok(isHttpError(error, "ERR_TOO_MUCH_WORK"));
    });
  });
  const known = [1, 2, 3].map((i) =>
    check("cheap", `known ${i}`, { queueKey: `user ${i}`, known: true, signal: NEVER })
  );
  assert.deepEqual(begun, ["x0", "x1", "known 1"], "however long the work of strangers takes");
  await endAll();
  await Promise.all([...strangers, ...known]);
  assert.deepEqual(begun.slice(2, 5), ["known 1", "known 2", "known 3"]);
});

const known: SemaphoreWaiter = { queueKey: "user", known: true, signal: NEVER };

for (const user of ["md5", "cheap"]) {
  Deno.test(`PasswordCheck without a turn tells nobody a right password from wrong ones, for ${user}`, async () => {
    const release = Promise.withResolvers<boolean>();
    const check = new PasswordCheck({
      matchers: {
        md5: matchesMd5,
        scrypt: (_, password) => password === "right" ? Promise.resolve(true) : release.promise,
      },
    });
    const table = TABLES.mixed;
    assert.ok(table);
    const ask = (password: string, waiter: SemaphoreWaiter) => check.entryOf(table, user, password, waiter);
    assert.ok(await ask("right", known));
    const crowd = Array.from({ length: 10 }, (_, i) => ask(`guess ${i}`, stranger()));
    for (const password of ["wrong", "right"]) {
      await assert.rejects(ask(password, stranger()), { code: "ERR_TOO_MUCH_WORK" }, password);
    }
    assert.ok(await ask("right", known));
    crowd.push(...Array.from({ length: 9 }, (_, i) => ask(`guess ${i}`, known)));
    for (const password of ["wrong", "right"]) {
      await assert.rejects(ask(password, known), { code: "ERR_TOO_MUCH_WORK" }, password);
    }
    release.resolve(false);
    assert.deepEqual(await Promise.all(crowd), Array(19).fill(undefined));
    assert.ok(await ask("right", known));
  });
}

Deno.test("PasswordCheck lets a caller who goes leave the queue", async () => {
  const { check, begun, endAll } = held();
  const goes = new AbortController();
  const working = [0, 1].map((i) => check("nobody", `x${i}`));
  const left = check("nobody", "left", stranger("192.0.2.17", goes.signal));
  const kept = check("nobody", "kept");
  goes.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  await endAll();
  assert.deepEqual(await Promise.all([...working, kept]), [undefined, undefined, undefined]);
  assert.deepEqual(begun, ["x0", "x1", "kept"]);
});

Deno.test("PasswordCheck does the work of one password once, also when the first to ask goes", async () => {
  const { check, begun, endAll } = held();
  const goes = new AbortController();
  const left = check("nobody", "x", stranger("192.0.2.17", goes.signal));
  const kept = check("nobody", "x");
  goes.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  await endAll();
  assert.equal(await kept, undefined);
  assert.deepEqual(begun, ["x"]);
});
