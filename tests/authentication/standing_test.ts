import assert from "node:assert/strict";
import type { Authenticator } from "../../src/authentication/authenticator.ts";
import { derivedUntil, namedUser, type Standing, standingOf } from "../../src/authentication/standing.ts";
import type { Identity } from "../../src/model/identity.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const { signal } = new AbortController();

/** A method that always says the same about everybody. */
function method(name: string, said?: Standing["kind"] | Error): Authenticator {
  return {
    name,
    challenges: [],
    authenticate: () => Promise.resolve({ kind: "skipped" }),
    ...(said !== undefined && {
      standingOf: () => said instanceof Error ? Promise.reject(said) : Promise.resolve({ kind: said }),
    }),
    close() {},
  };
}

const [YES, NO, DOWN, MUTE] = [
  method("YES", "known"),
  method("NO", "gone"),
  method("DOWN", new Error("out of order")),
  method("MUTE"),
];

const CASES: [string, readonly Authenticator[], string | undefined, Standing["kind"]][] = [
  ["the source alone decides", [NO, YES], "YES", "known"],
  ["nor do others speak for it", [YES, NO], "NO", "gone"],
  ["a source that cannot tell", [YES, MUTE], "MUTE", "cannot tell"],
  ["a source that is configured no longer", [YES, MUTE], "FORMER", "gone"],
  ["another service named the user", [YES, NO], "ETD", "cannot tell"],
  ["not remembered, one knows", [NO, MUTE, DOWN, YES], undefined, "known"],
  ["not remembered, all say no", [NO, NO], undefined, "gone"],
  ["not remembered, one cannot tell", [NO, MUTE], undefined, "cannot tell"],
  ["not remembered, there is no method", [], undefined, "gone"],
];

for (const [what, methods, via, expected] of CASES) {
  Deno.test(`standingOf() says ${expected}: ${what}`, async () => {
    const user = { dn: "CN=Ann", ...(via !== undefined && { via }) };
    assert.equal((await standingOf(methods, user, signal)).kind, expected);
  });
}

Deno.test("standingOf() fails where the source that could tell is out of order", async () => {
  await assert.rejects(standingOf([YES, DOWN], { dn: "CN=Ann", via: "DOWN" }, signal), /out of order/);
  await assert.rejects(standingOf([NO, DOWN, MUTE], { dn: "CN=Ann" }, signal), /out of order/);
});

Deno.test("namedUser() remembers the source, behind a token too", () => {
  const ann = { dn: "CN=Ann", method: "SSHKEY", via: "KEYS", login: "ann", uid: "ann" };
  assert.deepEqual(namedUser(ann), { dn: "CN=Ann", via: "KEYS", login: "ann", uid: "ann" });
  const token = { issuer: "CN=Us", renewable: false };
  const behind = (namedBy?: string) =>
    namedUser({
      dn: "CN=Ann",
      method: "ETD",
      via: "ETD",
      issuedToken: { ...token, ...(namedBy !== undefined && { namedBy }) },
    });
  assertAlike(behind("KEYS"), { dn: "CN=Ann", via: "KEYS" });
  assertAlike(behind(), { dn: "CN=Ann" });
});

Deno.test("standingOf() and derivedUntil() know a login no longer than its method's derivedLifetime", async () => {
  const NOW = 1_800_000_000;
  const asks = () => Promise.resolve({ kind: "known" as const });
  const methods = [{ name: "OIDC", derivedLifetime: 600, standingOf: asks }, {
    name: "PASSWORD",
    standingOf: asks,
  }];
  const standing = async (via: string, proved: number | undefined) =>
    (await standingOf(methods, { dn: "CN=Ann", via, proved }, signal, () => NOW * 1000)).kind;
  assert.equal(await standing("OIDC", NOW - 599), "known");
  assert.equal(await standing("OIDC", NOW - 600), "gone");
  assert.equal(
    await standing("OIDC", undefined),
    "known",
    "it is about no login, but about the owner of a share",
  );
  assert.equal(await standing("PASSWORD", 0), "known");
  const identity = { dn: "CN=Ann", method: "OAUTH", via: "OIDC" };
  const lineage = { id: "1", expires: NOW + 9, since: (NOW - 50) * 1000, root: "1", line: [] };
  const issuedToken = { issuer: "CN=auth", namedBy: "OIDC", renewable: true, lineage };
  const until: [Identity, number][] = [
    [identity, NOW + 600],
    [{ ...identity, proved: NOW - 100 }, NOW + 500],
    [{ ...identity, via: "ETD", issuedToken }, NOW + 550],
    [{ ...identity, via: "ETD", proved: NOW - 200, issuedToken }, NOW + 400],
    [{ ...identity, via: "PASSWORD" }, Infinity],
  ];
  for (const [who, expected] of until) assert.equal(derivedUntil(methods, who, NOW), expected);
});
