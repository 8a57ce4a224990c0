import assert from "node:assert/strict";
import type { Authenticator } from "../../src/authentication/authenticator.ts";
import {
  type AccountLookup,
  type AccountStatus,
  accountStatusOf,
  currentIdentity,
  derivedUntil,
  userReference,
} from "../../src/authentication/account_status.ts";
import type { Identity } from "../../src/model/identity.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const { signal } = new AbortController();

/** Makes an authenticator that reports the same status for every user. */
function authenticator(name: string, said?: AccountStatus["kind"] | Error): Authenticator {
  return {
    name,
    challenges: [],
    authenticate: () => Promise.resolve({ kind: "skipped" }),
    ...(said !== undefined && {
      accountStatusOf: () => said instanceof Error ? Promise.reject(said) : Promise.resolve({ kind: said }),
    }),
    close() {},
  };
}

const [YES, NO, DOWN, MUTE] = [
  authenticator("YES", "known"),
  authenticator("NO", "gone"),
  authenticator("DOWN", new Error("out of order")),
  authenticator("MUTE"),
];

const CASES: [string, readonly Authenticator[], string | undefined, AccountStatus["kind"]][] = [
  ["the source alone decides", [NO, YES], "YES", "known"],
  ["other sources do not decide for it", [YES, NO], "NO", "gone"],
  ["a source that cannot tell", [YES, MUTE], "MUTE", "cannot tell"],
  ["a source that is no longer configured", [YES, MUTE], "FORMER", "gone"],
  ["another service named the user, and is no longer trusted", [YES, MUTE], "ETD:key", "gone"],
  ["unknown source, one knows the user", [NO, MUTE, DOWN, YES], undefined, "known"],
  ["unknown source, none knows the user", [NO, NO], undefined, "gone"],
  ["unknown source, one cannot tell", [NO, MUTE], undefined, "cannot tell"],
  ["unknown source, no authenticators", [], undefined, "gone"],
];

for (const [what, authenticators, via, expected] of CASES) {
  Deno.test(`accountStatusOf() returns ${expected}: ${what}`, async () => {
    const user = { dn: "CN=Ann", ...(via !== undefined && { via }) };
    assert.equal((await accountStatusOf(authenticators, user, signal)).kind, expected);
  });
}

Deno.test("accountStatusOf() fails if the source of the user is out of order", async () => {
  await assert.rejects(accountStatusOf([YES, DOWN], { dn: "CN=Ann", via: "DOWN" }, signal), /out of order/);
  await assert.rejects(accountStatusOf([NO, DOWN, MUTE], { dn: "CN=Ann" }, signal), /out of order/);
});

Deno.test("userReference() keeps the source, even behind a token", () => {
  const ann = { dn: "CN=Ann", method: "SSHKEY", via: "KEYS", login: "ann", uid: "ann" };
  assert.deepEqual(userReference(ann), { dn: "CN=Ann", via: "KEYS", login: "ann", uid: "ann" });
  const token = { issuer: "CN=Us", renewable: false };
  const behind = (identifiedBy?: string) =>
    userReference({
      dn: "CN=Ann",
      method: "ETD",
      via: "ETD",
      issuedToken: { ...token, ...(identifiedBy !== undefined && { identifiedBy }) },
    });
  assertAlike(behind("KEYS"), { dn: "CN=Ann", via: "KEYS" });
  assertAlike(behind(), { dn: "CN=Ann" });
});

Deno.test("accountStatusOf() and derivedUntil() end a login after its authenticator's derivedLifetime", async () => {
  const NOW = 1_800_000_000;
  const asks = () => Promise.resolve({ kind: "known" as const });
  const authenticators = [{ name: "OIDC", derivedLifetime: 600, accountStatusOf: asks }, {
    name: "PASSWORD",
    accountStatusOf: asks,
  }];
  const accountStatus = async (via: string, proved: number | undefined) =>
    (await accountStatusOf(authenticators, { dn: "CN=Ann", via, proved }, signal, () => NOW * 1000)).kind;
  assert.equal(await accountStatus("OIDC", NOW - 599), "known");
  assert.equal(await accountStatus("OIDC", NOW - 600), "gone");
  assert.equal(
    await accountStatus("OIDC", undefined),
    "known",
    "it is about no login, but about the owner of a share",
  );
  assert.equal(await accountStatus("PASSWORD", 0), "known");
  const identity = { dn: "CN=Ann", method: "OAUTH", via: "OIDC" };
  const family = { id: "1", expires: NOW + 9, since: (NOW - 50) * 1000, root: "1", line: [] };
  const issuedToken = { issuer: "CN=auth", identifiedBy: "OIDC", renewable: true, family };
  const until: [Identity, number][] = [
    [identity, NOW + 600],
    [{ ...identity, proved: NOW - 100 }, NOW + 500],
    [{ ...identity, via: "ETD", issuedToken }, NOW + 550],
    [{ ...identity, via: "ETD", proved: NOW - 200, issuedToken }, NOW + 400],
    [{ ...identity, via: "PASSWORD" }, Infinity],
  ];
  for (const [who, expected] of until) assert.equal(derivedUntil(authenticators, who, NOW), expected);
});

Deno.test("currentIdentity() ends a token after the derivedLifetime of the administrator who issued it", async () => {
  const NOW = 1_800_000_000;
  const authenticators = [{ name: "OIDC", derivedLifetime: 600 }, { name: "PASSWORD" }];
  const ask: AccountLookup = (user, signal) =>
    accountStatusOf(authenticators, user, signal, () => NOW * 1000);
  const left = (byVia: string | undefined, age: number) => {
    const family = { id: "2", expires: NOW + 9, since: (NOW - age) * 1000, root: "1", line: [] };
    const facts = { issuer: "CN=auth", identifiedBy: "PASSWORD", renewable: true, by: "CN=Boss", family };
    return currentIdentity(
      { dn: "CN=Ann", method: "ETD", via: "ETD", issuedToken: { ...facts, byVia } },
      ask,
      signal,
    );
  };
  assert.ok(await left("OIDC", 599));
  assert.equal(await left("OIDC", 600), undefined);
  assert.ok(await left("PASSWORD", 86_400));
  assert.ok(await left(undefined, 86_400), "of an earlier version");
});

Deno.test("accountStatusOf() and derivedUntil() end a login after its authenticator's maxAuthAge", async () => {
  const NOW = 1_800_000_000;
  const authenticators = [{ name: "OIDC", derivedLifetime: 28_800, maxAuthAge: 600 }];
  const ann = { dn: "CN=Ann", method: "OAUTH", via: "OIDC" };
  const cases: [Partial<Identity>, until: number, AccountStatus["kind"]][] = [
    [{ proved: NOW, authTime: NOW - 599 }, NOW + 1, "cannot tell"],
    [{ proved: NOW, authTime: NOW - 600 }, NOW, "gone"],
    [{ proved: NOW }, 600, "gone"], // the time of the login is unknown
    [{ proved: NOW, authTime: "now" }, NOW + 600, "cannot tell"],
    [{ proved: NOW - 28_500, authTime: NOW }, NOW + 300, "cannot tell"],
    [{ authTime: NOW - 100 }, NOW + 500, "cannot tell"],
  ];
  for (const [login, until, status] of cases) {
    const identity = { ...ann, ...login };
    assert.equal(derivedUntil(authenticators, identity, NOW), until, JSON.stringify(login));
    const ask: AccountLookup = (user, signal) =>
      accountStatusOf(authenticators, user, signal, () => NOW * 1000);
    const left = await currentIdentity(identity, ask, signal);
    assert.equal(left === undefined, status === "gone", JSON.stringify(login));
  }
  const owner = { dn: "CN=Ann", via: "OIDC" };
  assert.equal((await accountStatusOf(authenticators, owner, signal, () => NOW * 1000)).kind, "cannot tell");
});
