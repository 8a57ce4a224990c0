import assert from "node:assert/strict";
import fc from "fast-check";
import {
  addressGroup,
  addressInRange,
  canonicalAddress,
  hostsOf,
  isAddressRange,
  mappedTwin,
  peerAddress,
} from "../../src/model/address.ts";

Deno.test("canonicalAddress() writes every address as the daemon prints it", () => {
  const facts: [string, string][] = [
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["0000:0000:0000:0000:0000:0000:0000:0001", "::1"],
    ["2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"],
    ["1::", "1::"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"],
    ["::192.0.2.7", "::192.0.2.7"],
    ["::1:0", "::0.1.0.0"],
    ["::fffe:192.0.2.7", "::fffe:c000:207"],
    ["0000:0000:0000:0000:0000:fffe:255.255.255.255", "::fffe:ffff:ffff"], // the longest spelling
  ];
  for (const [text, expected] of facts) assert.equal(canonicalAddress(text), expected, text);
});

Deno.test("canonicalAddress() refuses what is not an address", () => {
  const bad = [
    ..."|localhost|1.2.3|1.2.3.4.5|1.2.3.256|01.2.3.4|1.2.3.4 | 1.2.3.4|1.2.3.-4|1.2.3.4/32|0x7f.1|2130706433|1..2.3"
      .split("|"),
    ..."[::1]|fe80::1%eth0|fe80::1%|::1::|:::|:1|1:|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|1:2:3:4:5:6:7:8::|::12345|::g"
      .split("|"),
    ..."1.2.3.4::|::1.2.3.4:1|::1.2.3|::ffff:1.2.3.256|1:2:3:4:5:6:7:1.2.3.4|::1\n|::1,::2|１.2.3.4|::ffff:01.2.3.4"
      .split("|"),
    "0".repeat(40) + "::1",
  ];
  for (const text of bad) assert.equal(canonicalAddress(text), undefined, text);
});

Deno.test("canonicalAddress() returns one text for all spellings of an IPv6 address, and is idempotent", () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  fc.assert(fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), fc.boolean(), (groups, upper) => {
    const long = groups.map((value) => value.toString(16).padStart(4, "0")).join(":");
    const canonical = canonicalAddress(long);
    assert(canonical !== undefined);
    assert.equal(canonicalAddress(upper ? canonical.toUpperCase() : canonical), canonical);
    assert.equal(canonicalAddress(groups.map((value) => value.toString(16)).join(":")), canonical);
    // The platform's URL parser, an independent implementation, reads both as the same address.
    if (canonical.includes(":")) {
      assert.equal(new URL(`http://[${canonical}]/`).hostname, new URL(`http://[${long}]/`).hostname);
    } else assert.equal(mappedTwin(canonical), canonicalMapped(groups));
  }));
});

function canonicalMapped(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  return `::ffff:${[high >> 8, high & 255, low >> 8, low & 255].join(".")}`;
}

Deno.test("canonicalAddress() never throws", () => {
  fc.assert(fc.property(fc.stringMatching(/^[0-9a-f:.%/]{0,45}$/), (text) => {
    const canonical = canonicalAddress(text);
    if (canonical !== undefined) assert.equal(canonicalAddress(canonical), canonical);
  }));
});

Deno.test("mappedTwin() returns an address for IPv4 only", () => {
  assert.equal(mappedTwin("192.0.2.7"), "::ffff:192.0.2.7");
  assert.equal(mappedTwin("::ffff:c000:207"), "::ffff:192.0.2.7");
  assert.equal(mappedTwin("::1"), undefined);
  assert.equal(mappedTwin("localhost"), undefined);
});

Deno.test("addressInRange() compares the bits of the prefix", () => {
  const facts: [string, string, boolean][] = [
    ["192.0.2.7", "192.0.2.0/24", true],
    ["192.0.3.7", "192.0.2.0/24", false],
    ["192.0.2.127", "192.0.2.0/25", true],
    ["192.0.2.128", "192.0.2.0/25", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.7/32", true],
    ["192.0.2.8", "192.0.2.7/32", false],
    ["192.0.2.7", "0.0.0.0/0", true],
    ["::ffff:192.0.2.7", "192.0.2.0/24", true],
    ["192.0.2.7", "::ffff:192.0.2.0/120", true],
    ["192.0.3.7", "::ffff:192.0.2.0/120", false],
    ["192.0.2.7", "::/0", false],
    ["::1", "0.0.0.0/0", false],
    ["2001:db8:ffff::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["2001:db8::1", "2001:DB8:0:0:0:0:0:1", true],
    ["localhost", "0.0.0.0/0", false],
    ["192.0.2.7", "localhost", false],
  ];
  for (const [address, range, expected] of facts) {
    assert.equal(addressInRange(address, range), expected, `${address} in ${range}`);
  }
});

Deno.test("isAddressRange() refuses prefixes that are malformed, too long or too short for the address", () => {
  for (
    const text of ["192.0.2.0/24", "192.0.2.7", "::/0", "2001:db8::/32", "::ffff:192.0.2.0/120", "::1/128"]
  ) {
    assert(isAddressRange(text), text);
  }
  const bad =
    "|/|/24|192.0.2.0/|192.0.2.0/33|192.0.2.0/-1|192.0.2.0/024|192.0.2.0/24/24|192.0.2.7/24|192.0.2.0/2 4|::/129|::1/64|::ffff:192.0.2.0/24|192.0.2.0/255.255.255.0|*";
  for (const text of bad.split("|")) assert(!isAddressRange(text), text);
});

Deno.test("addressInRange() holds for every address whose leading bits are those of the range", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.nat(0xffffffff), fc.integer({ min: 0, max: 32 }), (address, noise, prefix) => {
      const value = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
      const covered = prefix === 0 ? 0 : Math.floor(value / 2 ** (32 - prefix)) * 2 ** (32 - prefix);
      const inside = covered + noise % 2 ** (32 - prefix);
      assert(addressInRange(dotted(inside), `${dotted(covered)}/${prefix}`));
      if (prefix > 0) {
        const outside = (inside + 2 ** (32 - prefix)) % 2 ** 32;
        assert(!addressInRange(dotted(outside), `${dotted(covered)}/${prefix}`));
      }
    }),
  );
});

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

Deno.test("peerAddress() returns link-local peers without their zone, and empty text for no address", () => {
  const facts: [string, string][] = [
    ["fe80::1%eth0", "fe80::1"],
    ["FE80::0001%2", "fe80::1"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["192.0.2.7", "192.0.2.7"],
    ["", ""],
    ["%eth0", ""],
    ["localhost", ""],
  ];
  for (const [shown, expected] of facts) assert.equal(peerAddress(shown), expected, shown);
});

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

Deno.test("addressGroup() is the same for addresses that differ only in the last 64 bits", () => {
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

Deno.test("hostsOf() splits at blanks and commas, as the Java client does", () => {
  const lists: [string, string[]][] = [
    ["a b, c", ["a", "b", "c"]],
    ["10.0.0.1 10.0.0.2", ["10.0.0.1", "10.0.0.2"]],
    [" a ,,\t::1 ", ["a", "::1"]],
    [" , ", []],
  ];
  for (const [list, hosts] of lists) assert.deepEqual(hostsOf(list), hosts, list);
});
