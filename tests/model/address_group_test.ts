import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalAddress } from "../../src/model/address.ts";
import { addressGroup } from "../../src/model/address_group.ts";

const GROUPS: [string, string][] = [
  ["192.0.2.17", "192.0.2.17"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["1::2:3:4:5:6", "1:0:0:2::/64"],
];

for (const [address, group] of GROUPS) {
  Deno.test(`addressGroup() puts ${address} into ${group}`, () => {
    assert.equal(addressGroup(address), group);
  });
}

Deno.test("addressGroup() is the same for addresses that differ in the last 64 bits alone", () => {
  const half = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 4,
    maxLength: 4,
  });
  const text = (groups: number[]) =>
    canonicalAddress(groups.map((group) => group.toString(16)).join(":")) ?? "";
  fc.assert(fc.property(half, half, half, half, (a, b, x, y) => {
    const one = text([...a, ...x]);
    const two = text([...b, ...y]);
    if (one.includes(".") || two.includes(".")) return; // ::ffff:… is IPv4
    assert.equal(addressGroup(one) === addressGroup(two), a.join() === b.join());
  }));
});
