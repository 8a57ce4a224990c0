import assert from "node:assert/strict";
import { isAccountName, isPrivilegedAccount } from "../../src/model/account_name.ts";

for (
  const [name, expected] of [
    ["a", true],
    ["_svc", true],
    ["9lives", true],
    ["ann.lee-2@site", true],
    ["machine$", true],
    ["a".repeat(63), true],
    [`${"a".repeat(63)}$`, true],
    ["a".repeat(64), false],
    ["", false],
    ["-a", false],
    [".a", false],
    ["$", false],
    ["a$b", false],
    ["a b", false],
    ["a\n", false],
    ["a:b", false],
    ["a,b", false],
    ["a/b", false],
    ["DOM\\ann", true],
    ["dom.example\\ann.lee", true],
    ["DOM\\host$", true],
    ["\\ann", false],
    ["DOM\\", false],
    ["DOM\\\\ann", false],
    ["A\\B\\ann", false],
    ["DOM\\-ann", false],
    ["DOM\\ann\n", false],
    ["DOM\\$(id)", false],
    ["ä", false],
  ] as const
) {
  Deno.test(`${JSON.stringify(name.slice(0, 20))} of ${name.length} is ${expected ? "an" : "no"} account name`, () => {
    assert.equal(isAccountName(name), expected);
  });
}

for (
  const [name, expected] of [
    ["root", true],
    ["toor", true],
    ["0", true],
    ["000", true],
    ["00a", false],
    ["", false],
    ["DOM\\root", true],
    ["DOM\\0", true],
    ["root\\ann", false],
    ["roots", false],
    ["Root", false],
    ["10", false],
  ] as const
) {
  Deno.test(`"${name}" is ${expected ? "" : "not "}the account of uid 0`, () => {
    assert.equal(isPrivilegedAccount(name), expected);
  });
}
