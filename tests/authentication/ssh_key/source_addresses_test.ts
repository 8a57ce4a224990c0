import assert from "node:assert/strict";
import { mayComeFrom, parseSourceAddresses } from "../../../src/authentication/ssh_key/authorized_keys.ts";

for (
  const [sources, address, expected] of [
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.70", false],
    ["192.0.2.70", "192.0.2.7", false],
    ["192.0.2.0/24", "192.0.2.255", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.2.*", "192.0.2.7", true],
    ["192.0.2.*", "192.0.20.7", false],
    ["*.0.*.7", "192.0.2.0.7", false],
    ["1*2*7", "192.0.2.7", true],
    ["1*3*7", "192.0.2.7", false],
    ["*", "192.0.2.7", true],
    ["**", "192.0.2.7", true],
    ["192.0.2.7*", "192.0.2.7", true],
    ["192.0.2.?", "192.0.2.7", true],
    // A question mark matches exactly one character.
    ["192.0.2.7?", "192.0.2.7", false],
    ["192.0.2.?", "192.0.2.77", false],
    ["192.0.2.??", "192.0.2.77", true],
    ["*?", "192.0.2.7", true],
    ["2001:DB8::*", "2001:db8::1", true],
    ["2001:db8::/32", "2001:db8:1::1", true],
    ["*,!192.0.2.7", "192.0.2.7", false],
    ["!192.0.2.7,*", "192.0.2.7", false],
    ["*,!192.0.2.7", "192.0.2.8", true],
    ["!192.0.2.7", "192.0.2.8", false],
    ["!192.0.2.0/24,192.0.2.*", "192.0.2.7", false],
    ["host.example.org", "192.0.2.7", false],
    ["*", "host.example.org", false],
    ["*", "", false],
  ] as const
) {
  Deno.test(`from="${sources}" ${expected ? "admits" : "refuses"} ${address || "an unknown address"}`, () => {
    const parsed = parseSourceAddresses(sources);
    assert(parsed !== undefined);
    assert.equal(mayComeFrom(parsed, address), expected);
  });
}

for (
  const sources of ["", "192.0.2.7,", ",192.0.2.7", "!", "192.0.2.7,!", "192.0.2.0/33", "host/24", "a b"]
) {
  Deno.test(`from="${sources}" is not a valid list of sources`, () => {
    assert.equal(parseSourceAddresses(sources), undefined);
  });
}
