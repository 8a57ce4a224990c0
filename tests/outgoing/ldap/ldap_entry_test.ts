import assert from "node:assert/strict";
import fc from "fast-check";
import { sameName } from "../../../src/model/distinguished_name.ts";
import {
  firstValueInName,
  type LdapEntry,
  lockOf,
  nameOf,
  passwordChange,
  userInName,
  valuesOf,
} from "../../../src/outgoing/ldap/ldap_entry.ts";
import { CHARACTER } from "../../fixtures/character.ts";

const entry = (attributes: Readonly<Record<string, string | readonly string[]>>): LdapEntry => ({
  dn: "uid=a,dc=x",
  attributes: new Map(Object.entries(attributes).map(([name, values]) => [name, [values].flat()])),
});

const NOW = Date.UTC(2026, 10, 24);
/** Returns a time as Windows FILETIME: units of 100 ns since 1601. */
const filetime = (ms: number) => String((BigInt(ms) + 11_644_473_600_000n) * 10_000n);

const LOCKS: readonly (readonly [attributes: Parameters<typeof entry>[0], expected: string | undefined])[] = [
  [{}, undefined],
  [{ pwdAccountLockedTime: "000001010000Z" }, "locked (pwdAccountLockedTime)"],
  [{ accountUnlockTime: "20261124000001Z" }, "locked (accountUnlockTime)"],
  [{ accountUnlockTime: "20261124000000Z" }, undefined],
  [{ accountUnlockTime: "19700101000000Z" }, "locked (accountUnlockTime)"],
  [{ nsaccountlock: "true" }, "locked (nsAccountLock)"],
  [{ nsAccountLock: "FALSE" }, undefined],
  [{ userAccountControl: "512" }, undefined],
  [{ userAccountControl: "514" }, "disabled (userAccountControl)"],
  [{ "msDS-User-Account-Control-Computed": "16" }, "locked (lockoutTime)"],
  [{ shadowExpire: "-1" }, undefined],
  [{ shadowExpire: "20781" }, "expired (shadowExpire)"],
  [{ shadowExpire: "20782" }, undefined],
  [{ pwdEndTime: "20261123235959Z" }, "expired (pwdEndTime)"],
  [{ pwdEndTime: "20261124000001.5Z" }, undefined],
  [{ krbPrincipalExpiration: "20261124000000Z" }, "expired (krbPrincipalExpiration)"],
  [{ accountExpires: "0" }, undefined],
  [{ accountExpires: "9223372036854775807" }, undefined],
  [{ accountExpires: filetime(NOW - 1000) }, "expired (accountExpires)"],
  [{ accountExpires: filetime(NOW + 1000) }, undefined],
];
for (const [attributes, expected] of LOCKS) {
  Deno.test(`lockOf() of ${JSON.stringify(attributes)} is ${expected ?? "nothing"}`, () => {
    assert.equal(lockOf(entry(attributes), NOW), expected);
  });
}

Deno.test("passwordChange() reads the attribute of each server", () => {
  for (const name of ["pwdChangedTime", "pwdUpdateTime", "pwdLastSet", "krbLastPwdChange"]) {
    assert.equal(passwordChange(entry({ [name.toLowerCase()]: "20261124000000Z" })), "20261124000000Z", name);
  }
  assert.equal(passwordChange(entry({ modifyTimestamp: "20261124000000Z" })), undefined);
});

Deno.test("lockOf() ignores a lock that the server no longer applies, and treats an expired account as locked", () => {
  assert.equal(lockOf(entry({ pwdAccountLockedTime: "20260101000000Z" }), NOW, true), undefined);
  assert.equal(lockOf(entry({ accountUnlockTime: "20261124000001Z" }), NOW, true), undefined);
  assert.equal(lockOf(entry({ shadowExpire: "1" }), NOW, true), "expired (shadowExpire)");
});

Deno.test("valuesOf() finds attributes in any case", () => {
  assert.deepEqual(valuesOf(entry({ memberOf: ["a", "b"] }), "MEMBEROF"), ["a", "b"]);
});

Deno.test("nameOf() fills a template so that userInName() recovers any Unicode text", () => {
  const template = "CN=%uid%,O=Site";
  fc.assert(fc.property(fc.string({ unit: CHARACTER, minLength: 1, maxLength: 20 }), (uid) => {
    const name = nameOf(entry({ uid }), template);
    assert(name !== undefined);
    const found = userInName(name, template);
    assert(found !== undefined && sameName(nameOf(entry({ uid: found }), template) ?? "", name));
    assert.equal(found, uid);
  }));
});

Deno.test("nameOf() requires exactly one text for each attribute", () => {
  for (const uid of [[], [""], ["a", "b"]]) assert.equal(nameOf(entry({ uid }), "CN=%uid%"), undefined);
});

Deno.test("firstValueInName() returns the first part of a name, and nothing for other text", () => {
  assert.deepEqual(firstValueInName("cn=staff+ou=x,dc=demo"), ["staff", "x"]);
  assert.deepEqual(firstValueInName("no name"), []);
});
