import assert from "node:assert/strict";
import { applicableShare, coveringPaths } from "../../../src/sharing/rules/applicable_share.ts";
import type { CreationRights, Share } from "../../../src/sharing/share.ts";
import { DRAFT } from "../store/conformance.ts";

const share = (id: string, changes: Partial<Share>): Share => ({
  ...DRAFT,
  server: "A",
  id,
  accessCount: 0,
  created: 0,
  ...changes,
});

const COVERING: [string, string[]][] = [
  ["/data/d/x", ["/data/d/x", "/data/d/x/", "/data/d/", "/data/", "/"]],
  ["/data/d/", ["/data/d/", "/data/", "/"]],
  ["/x", ["/x", "/x/", "/"]],
  ["/", ["/"]],
];

for (const [path, expected] of COVERING) {
  Deno.test(`coveringPaths() of ${path}`, () => assert.deepEqual(coveringPaths(path), expected));
}

const CHOICES: [string, Share[], string | undefined][] = [
  ["finds none among none", [], undefined],
  ["takes a share for everybody", [share("a", {})], "a"],
  [
    "takes the deeper one, even if it grants less",
    [
      share("up", { path: "/data/", target: "cn=bob", access: "WRITE" }),
      share("deep", { path: "/data/d/" }),
    ],
    "deep",
  ],
  [
    "takes the caller's own before everybody's",
    [share("all", { access: "WRITE" }), share("own", { target: "cn=bob" })],
    "own",
  ],
  [
    "takes the caller's own before a group's, which grants more and is older",
    [
      share("group", { target: "group:hpc", access: "MODIFY" }),
      share("own", { target: "cn=bob", created: 1 }),
    ],
    "own",
  ],
  [
    "takes a group's before everybody's",
    [share("all", { access: "WRITE" }), share("group", { target: "group:hpc", created: 1 })],
    "group",
  ],
  [
    "takes the share of the group that is granted more",
    [share("a", { target: "group:a" }), share("b", { target: "group:b", access: "WRITE", created: 1 })],
    "b",
  ],
  ["takes the one that grants more", [share("r", {}), share("w", { access: "WRITE" })], "w"],
  ["takes the older of equals", [share("new", { created: 2 }), share("old", { created: 1 })], "old"],
];

const MADE: CreationRights = {
  owner: { dn: "CN=x" },
  mappedGroup: true,
  mappedRole: true,
  atHome: false,
  limits: {},
};

const B = { owner: "cn=b,o=example" };
const AT_HOME = { made: { ...MADE, atHome: true } };

const OWNERS: [string, Share[], string][] = [
  [
    "takes the first owner, even if another one shares deeper and grants more",
    [
      share("old", { created: 1 }),
      share("new", { ...B, created: 2, path: "/data/d/x", access: "WRITE", target: "cn=bob" }),
    ],
    "old",
  ],
  [
    "takes the newer share of the first owner",
    [
      share("first", { created: 1, path: "/data/" }),
      share("other", { ...B, created: 2 }),
      share("deeper", { created: 3 }),
    ],
    "deeper",
  ],
  [
    "takes the owner at home before the first",
    [share("old", { created: 1, made: MADE }), share("home", { ...B, ...AT_HOME, created: 2 })],
    "home",
  ],
];

for (const [title, shares, expected] of [...CHOICES, ...OWNERS]) {
  for (const given of [shares, shares.toReversed()]) {
    Deno.test(`applicableShare() ${title}, of ${given.map(({ id }) => id)}`, () => {
      assert.equal(applicableShare(given, "READ")?.id, expected);
    });
  }
}

Deno.test("applicableShare() returns a share that does not grant the wanted access only if there is no other", () => {
  const read = share("read", { ...AT_HOME, created: 1 });
  const write = share("write", { ...B, created: 2, access: "WRITE" });
  const wanting = (wanted: "READ" | "WRITE", ...shares: Share[]) => applicableShare(shares, wanted)?.id;
  assert.equal(wanting("READ", read, write), "read");
  assert.equal(wanting("WRITE", read, write), "write");
  assert.equal(wanting("WRITE", read), "read");
  // A share with fewer rights on a deeper path decides there, not the one above it.
  const deeper = share("deeper", { ...B, created: 3, path: "/data/d/x" });
  assert.equal(wanting("WRITE", write, deeper), "deeper");
});
