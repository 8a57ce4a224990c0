import assert from "node:assert/strict";
import { addressInRange, rangeWithin } from "../../src/model/address.ts";
import {
  includesServer,
  isRestricted,
  isWithinPaths,
  restricted,
  type TokenRestrictions,
} from "../../src/model/token_restrictions.ts";

const BEFORE: TokenRestrictions = {
  paths: ["/data/run7/", "/work/"],
  activity: "write",
  servers: ["HPC", "TWO"],
  address: "192.0.2.0/24",
};

Deno.test("restricted() applies requested restrictions that are narrower, and keeps the rest", () => {
  assert.deepEqual(restricted({}, {}), {});
  assert.deepEqual(restricted({}, BEFORE), BEFORE);
  assert.deepEqual(restricted(BEFORE, {}), BEFORE);
  const less: TokenRestrictions = {
    paths: ["/data/run7/a/"],
    activity: "read",
    servers: ["TWO"],
    address: "192.0.2.7",
  };
  assert.deepEqual(restricted(BEFORE, less), less);
  assert.deepEqual(restricted(BEFORE, { activity: "read" }), { ...BEFORE, activity: "read" });
});

const WIDER: readonly (readonly [TokenRestrictions, string])[] = [
  [{ paths: ["/data/run7/a/", "/data/"] }, "path"],
  [{ paths: ["/data/run72/"] }, "path"],
  [{ paths: ["/"] }, "path"],
  [{ activity: "all" }, "activity"],
  [{ servers: ["HPC", "OTHER"] }, "server"],
  [{ address: "192.0.0.0/16" }, "address"],
  [{ address: "2001:db8::/32" }, "address"],
  [{ address: "0.0.0.0/0" }, "address"],
];

for (const [asked, what] of WIDER) {
  Deno.test(`restricted() refuses to widen to ${JSON.stringify(asked)}`, () =>
    assert.equal(restricted(BEFORE, asked), what));
}

Deno.test("a path lies in a directory, not beside it", () => {
  for (const path of ["/data/run7/", "/data/run7/a", "/work/x/y/"]) {
    assert.ok(isWithinPaths(BEFORE, path), path);
  }
  for (const path of ["/data/run7", "/data/run72/", "/data/", "/", "/workx"]) {
    assert.ok(!isWithinPaths(BEFORE, path), path);
  }
  assert.ok(isWithinPaths({}, "/anything"));
  assert.ok(includesServer({}, "HPC") && includesServer(BEFORE, "HPC") && !includesServer(BEFORE, "THREE"));
  assert.ok(!isRestricted({}) && isRestricted({ activity: "all" }));
});

Deno.test("rangeWithin() agrees with addressInRange(), and refuses invalid ranges", () => {
  const ranges = [
    "0.0.0.0/0",
    "192.0.2.0/24",
    "192.0.2.128/25",
    "192.0.2.200",
    "198.51.100.0/24",
    "::/0",
    "2001:db8::/32",
  ];
  const addresses = ["192.0.2.1", "192.0.2.200", "198.51.100.9", "203.0.113.1", "2001:db8::1", "2001:db9::1"];
  for (const inner of ranges) {
    for (const outer of ranges) {
      if (!rangeWithin(inner, outer)) continue;
      for (const address of addresses.filter((each) => addressInRange(each, inner))) {
        assert.ok(addressInRange(address, outer), `${address} ${inner} ${outer}`);
      }
    }
  }
  assert.ok(
    rangeWithin("192.0.2.200", "192.0.2.128/25") && rangeWithin("::ffff:192.0.2.0/120", "192.0.2.0/24"),
  );
  assert.ok(!rangeWithin("192.0.2.0/24", "192.0.2.128/25") && !rangeWithin("192.0.2.1", "::/0"));
  assert.ok(!rangeWithin("here", "0.0.0.0/0") && !rangeWithin("192.0.2.1", "there"));
});
