import assert from "node:assert/strict";
import { coveringPaths, mostSpecific } from "../../../src/sharing/rules/applicable_share.ts";
import type { Share } from "../../../src/sharing/share.ts";
import { DRAFT } from "../store/conformance.ts";

const NAMES = { caller: "cn=bob", everybody: DRAFT.target };

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
  ["leaves out what is for others", [share("a", { target: "cn=carol" })], undefined],
  ["takes what is for everybody", [share("a", {})], "a"],
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
  ["takes the one that grants more", [share("r", {}), share("w", { access: "WRITE" })], "w"],
  ["takes the older of equals", [share("new", { created: 2 }), share("old", { created: 1 })], "old"],
];

for (const [title, shares, expected] of CHOICES) {
  Deno.test(`mostSpecific() ${title}`, () => assert.equal(mostSpecific(shares, NAMES)?.id, expected));
}
