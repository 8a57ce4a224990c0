import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { AccountStatus } from "../../../src/authentication/account_status.ts";
import { SignIns } from "../../../src/authentication/sign_in/sign_ins.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { httpError, isHttpError } from "../../../src/model/http_error.ts";
import { IN_MEMORY } from "../../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

const ANN = { dn: "CN=Ann, O=Example", method: "PASSWORD_FILE", via: "PASSWORD", login: "ann" };
const NOW = 1_800_000_000;

/** Opens sign-ins that end after 30 minutes without a request, and after eight hours. */
function opened(accountStatus: () => AccountStatus = () => ({ kind: "known" }), derived = Infinity) {
  let now = NOW;
  const clock = () => now * 1000;
  const records = openRecordStore(IN_MEMORY, clock);
  const signIns = new SignIns({
    records: () => records,
    accountStatus: () => Promise.resolve(accountStatus()),
    derivedUntil: () => derived,
    limits: { idleSeconds: 1800, maxSeconds: 28_800 },
    renew: () => Promise.reject(new Error("nobody asks")),
    revokeBrowserTokens: () => Promise.resolve(),
    signsIn: () => true,
    log: SILENT,
    clock,
  });
  const { signal } = new AbortController();
  return {
    records,
    signIns,
    later: (seconds: number) => now += seconds,
    find: (token: string) => signIns.find(token, signal),
    [Symbol.dispose]: () => records.close(),
  };
}

Deno.test("SignIns find a browser that signed in, by 128 random bits that are not in the store", async () => {
  using at = opened();
  const token = await at.signIns.begin({ identity: { ...ANN, groups: ["hpc"] }, userName: "ann" });
  assert.match(token, /^[A-Za-z0-9_-]{22}$/);
  assert.notEqual(token, await at.signIns.begin({ identity: ANN }));
  const found = await at.find(token);
  const { browser, ...identity } = found?.identity ?? {};
  assert.deepEqual(identity, { ...ANN, groups: ["hpc"], proved: NOW });
  assert.equal(browser?.ends, NOW + 28_800);
  assert.deepEqual([found?.userName, found?.ends], ["ann", NOW + 28_800]);
  const kept = JSON.stringify([await at.records.list("sign-in"), await at.records.list("sign-in-heard-of")]);
  assert(!kept.includes(token) && !kept.includes(found?.formToken ?? token), kept);
  for (const other of ["", "A".repeat(22), `${token}=`, token.toLowerCase(), `${token} `]) {
    if (other !== token) assert.equal(await at.find(other), undefined, other);
  }
});

Deno.test("SignIns end for an idle browser, and after the longest time for one in use", async () => {
  using at = opened();
  const [idle, used] = [await at.signIns.begin({ identity: ANN }), await at.signIns.begin({ identity: ANN })];
  at.later(1740);
  assert(await at.find(used));
  at.later(61);
  assert.equal(await at.find(idle), undefined);
  for (let i = 0; i < 15; i++) {
    assert(await at.find(used), `after ${i} times`);
    at.later(1739);
  }
  assert(await at.find(used));
  at.later(1000);
  assert.equal(await at.find(used), undefined, "eight hours are over");
});

Deno.test("a browser in the middle of a long download is not idle", async () => {
  using at = opened();
  const token = await at.signIns.begin({ identity: ANN });
  const { active } = await at.find(token) ?? {};
  for (let i = 0; i < 4; i++) {
    at.later(600);
    active?.();
    await setImmediate();
  }
  assert(await at.find(token));
  await at.signIns.end(token);
  active?.();
  await setImmediate();
  assert.equal(await at.find(token), undefined, "after its sign-out, a download signs nobody in");
});

Deno.test("SignIns record the use of a browser at most once a minute", async () => {
  using at = opened();
  const token = await at.signIns.begin({ identity: ANN });
  const before = at.records.version();
  for (let i = 0; i < 59; i++, at.later(1)) await at.find(token);
  assert.equal(at.records.version(), before);
  at.later(10);
  await at.find(token);
  await setImmediate(); // find() does not wait until the use is recorded
  assert.notEqual(at.records.version(), before);
});

Deno.test("SignIns find a browser while the store cannot record its use, until the last recorded use is too old", async () => {
  using at = opened();
  const token = await at.signIns.begin({ identity: ANN });
  at.records.put = () => Promise.reject(httpError("ERR_RECORD_STORE", "disk is full"));
  at.later(1000);
  assert(await at.find(token));
  at.later(800);
  assert.equal(await at.find(token), undefined);
});

Deno.test("SignIns end when the login is too old, even if the provider would renew them", async () => {
  using at = opened(undefined, NOW + 90);
  const session = { sub: "ann", sid: undefined, refreshToken: "x" };
  const token = await at.signIns.begin({ identity: ANN, session });
  at.later(89);
  assert(await at.find(token));
  at.later(1);
  assert.equal(await at.find(token), undefined);
});

Deno.test("SignIns end with the derived lifetime of the login, and none begins after it", async () => {
  using at = opened(undefined, NOW + 90.9);
  const token = await at.signIns.begin({ identity: ANN });
  at.later(89);
  assert.equal((await at.find(token))?.ends, NOW + 90);
  at.later(1);
  assert.equal(await at.find(token), undefined);
  await assert.rejects(
    at.signIns.begin({ identity: ANN }),
    (error) => isHttpError(error, "ERR_LOGIN_NOT_DERIVABLE"),
  );
});

Deno.test("SignIns sign out the longest idle of 21 browsers of a user", async () => {
  using at = opened();
  const tokens: string[] = [];
  for (let i = 0; i < 20; i++) {
    tokens.push(await at.signIns.begin({ identity: ANN }));
    at.later(1);
  }
  at.later(600);
  for (const token of tokens.toSpliced(7, 1)) assert.ok(await at.find(token));
  await setImmediate();
  tokens.push(await at.signIns.begin({ identity: ANN }));
  const signedIn = await Promise.all(tokens.map(async (token) => await at.find(token) !== undefined));
  assert.deepEqual(signedIn, tokens.map((_, i) => i !== 7));
});

Deno.test("SignIns try again to sign out a browser that the provider refused, if its tokens could not be revoked", async () => {
  let now = NOW;
  const revoked: string[] = [];
  const [clock, { signal }] = [() => now * 1000, new AbortController()];
  using records = Object.assign(openRecordStore(IN_MEMORY, clock), {
    [Symbol.dispose]: () => records.close(),
  });
  const signIns = new SignIns({
    records: () => records,
    accountStatus: () => Promise.resolve({ kind: "known" }),
    derivedUntil: () => NOW + 28_800,
    limits: { idleSeconds: 1800, maxSeconds: 28_800 },
    renew: () => Promise.resolve({ kind: "refused", reason: "locked" }),
    revokeBrowserTokens: (_, browser) =>
      revoked.push(browser) === 1 ? Promise.reject(new Error("the disk is full")) : Promise.resolve(),
    signsIn: () => true,
    log: SILENT,
    clock,
  });
  const session = { sub: "ann", sid: undefined, refreshToken: "r" };
  const token = await signIns.begin({ identity: ANN, session });
  now += 301;
  await assert.rejects(signIns.find(token, signal), /disk is full/);
  now += 61;
  assert.equal(await signIns.find(token, signal), undefined);
  assert.equal(revoked.length, 2);
});

Deno.test("a browser that signs out during another of its requests stays signed out", async () => {
  let during: () => Promise<unknown> = () => Promise.resolve();
  const clock = () => NOW * 1000;
  let ahead = 0;
  const records = openRecordStore(IN_MEMORY, () => clock() + ahead);
  const signIns = new SignIns({
    records: () => records,
    accountStatus: async () => {
      await during();
      return { kind: "known" };
    },
    derivedUntil: () => Infinity,
    limits: { idleSeconds: 1800, maxSeconds: 28_800 },
    renew: () => Promise.reject(new Error("nobody asks")),
    revokeBrowserTokens: () => Promise.resolve(),
    signsIn: () => true,
    log: SILENT,
    clock: () => clock() + ahead,
  });
  const token = await signIns.begin({ identity: ANN });
  ahead = 600_000;
  during = () => signIns.end(token);
  const { signal } = new AbortController();
  await signIns.find(token, signal);
  during = () => Promise.resolve();
  assert.equal(await signIns.find(token, signal), undefined);
  records.close();
});

Deno.test("SignIns end for users who are gone, and drop accounts that are no longer proved", async () => {
  let accountStatus: AccountStatus = { kind: "known", servers: ["HPC"] };
  using at = opened(() => accountStatus);
  const token = await at.signIns.begin({ identity: { ...ANN, uid: "ann", uidServers: ["HPC", "VIZ"] } });
  assert.deepEqual((await at.find(token))?.identity.uidServers, ["HPC"]);
  accountStatus = { kind: "gone" };
  assert.equal(await at.find(token), undefined);
  accountStatus = { kind: "known" };
  assert.equal(await at.find(token), undefined, "who comes back signs in again");
});

for (
  const [what, parts] of [
    ["has no such authenticator", { signsIn: () => false }],
    ["limits logins to a shorter time", { derivedUntil: () => NOW + 60 }],
  ] as const
) {
  Deno.test(`SignIns whose configuration ${what} refuse a browser, but do not sign it out at other instances`, async () => {
    using at = opened(undefined, NOW + 86_400);
    const revoked: string[] = [];
    const other = new SignIns({
      ...at.signIns.parts,
      ...parts,
      accountStatus: () => Promise.resolve({ kind: "gone" }),
      revokeBrowserTokens: (owner) => Promise.resolve(void revoked.push(owner)),
    });
    const { signal } = new AbortController();
    for (const session of [undefined, { sub: "ann", refreshToken: "x" }]) {
      const token = await at.signIns.begin({ identity: ANN, ...session && { session } });
      at.later(60);
      assert.equal(await other.find(token, signal), undefined);
      assert(await at.find(token));
    }
    assert.deepEqual(revoked, []);
  });
}

Deno.test("SignIns keep the twenty most recently used browsers of a user, and endAllOf() ends all of one user", async () => {
  using at = opened();
  const tokens: string[] = [];
  for (let i = 0; i < 25; i++, at.later(1)) tokens.push(await at.signIns.begin({ identity: ANN }));
  const bob = await at.signIns.begin({ identity: { ...ANN, dn: "CN=Bob,O=Example" } });
  const found = await Promise.all(tokens.map(at.find));
  assert.deepEqual(found.map((one) => one !== undefined), tokens.map((_, i) => i >= 5));
  await at.signIns.endAllOf("cn=ann,o=example");
  assert.equal(await at.find(tokens[24] ?? ""), undefined);
  assert(await at.find(bob));
});

Deno.test("SignIns reject a record with an unknown member, or one of another type, and do not delete it", async () => {
  using at = opened();
  const token = await at.signIns.begin({ identity: ANN });
  const [record] = await at.records.list("sign-in");
  assert(record !== undefined);
  const wrong = [
    {},
    { identity: null },
    { identity: { ...ANN, uid: 0 } },
    { identity: { ...ANN, groups: ["a", 1] } },
    { identity: { ...ANN, capabilities: [{ path: "/", access: "everything" }] } },
    { identity: { ...ANN, limitedToSomething: true } },
    { identity: { ...ANN, dn: undefined } },
  ];
  for (const content of wrong) {
    await at.records.put("sign-in", { ...record, content }, 9);
    assert.equal(await at.find(token), undefined, JSON.stringify(content));
  }
  const capabilities = [{ path: "/data/", access: "read" }];
  await at.records.put("sign-in", { ...record, content: { identity: { ...ANN, capabilities } } }, 9);
  assert.deepEqual((await at.find(token))?.identity.capabilities, capabilities);
});
