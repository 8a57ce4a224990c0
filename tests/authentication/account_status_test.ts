import assert from "node:assert/strict";
import type { Authenticator } from "../../src/authentication/authenticator.ts";
import { namedUser, type AccountStatus, accountStatusOf } from "../../src/authentication/account_status.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const { signal } = new AbortController();

/** A method that always says the same about everybody. */
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
  ["nor do others speak for it", [YES, NO], "NO", "gone"],
  ["a source that cannot tell", [YES, MUTE], "MUTE", "cannot tell"],
  ["a source that is configured no longer", [YES, MUTE], "FORMER", "gone"],
  ["another service named the user", [YES, NO], "ETD", "cannot tell"],
  ["not remembered, one knows", [NO, MUTE, DOWN, YES], undefined, "known"],
  ["not remembered, all say no", [NO, NO], undefined, "gone"],
  ["not remembered, one cannot tell", [NO, MUTE], undefined, "cannot tell"],
  ["not remembered, there is no method", [], undefined, "gone"],
];

for (const [what, authenticators, via, expected] of CASES) {
  Deno.test(`standingOf() says ${expected}: ${what}`, async () => {
    const user = { dn: "CN=Ann", ...(via !== undefined && { via }) };
    assert.equal((await accountStatusOf(authenticators, user, signal)).kind, expected);
  });
}

Deno.test("accountStatusOf() fails where the source that could tell is out of order", async () => {
  await assert.rejects(accountStatusOf([YES, DOWN], { dn: "CN=Ann", via: "DOWN" }, signal), /out of order/);
  await assert.rejects(accountStatusOf([NO, DOWN, MUTE], { dn: "CN=Ann" }, signal), /out of order/);
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
