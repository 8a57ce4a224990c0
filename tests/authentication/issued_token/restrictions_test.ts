import assert from "node:assert/strict";
import {
  readRestrictions,
  restrictionsClaim,
  restrictionsFromClaim,
  restrictionsInWords,
} from "../../../src/authentication/issued_token/restrictions.ts";
import { readTokenRequest } from "../../../src/authentication/issued_token/issue.ts";

const read = (query: string) => readRestrictions(new URLSearchParams(query));

const FULL = {
  paths: ["/data/run7/", "/work/ann/"],
  activity: "read",
  servers: ["HPC", "TEST"],
  address: "192.0.2.0/24",
} as const;
const QUERY = "path=/data/run7/&path=/work//ann/./&activity=read&server=HPC&server=TEST&address=192.0.2.0/24";

Deno.test("readRestrictions() reads the restrictions of a token in normal form", () => {
  assert.deepEqual(read(""), {});
  assert.deepEqual(read(QUERY), FULL);
  assert.deepEqual(read("path=/&path=/"), { paths: ["/"] });
  assert.equal(
    restrictionsInWords(read(QUERY)),
    "path=/data/run7/ /work/ann/ activity=read server=HPC TEST address=192.0.2.0/24",
  );
});

Deno.test("restrictionsFromClaim() reads back what restrictionsClaim() writes", () => {
  assert.deepEqual(restrictionsFromClaim(JSON.parse(JSON.stringify(restrictionsClaim(FULL)))), FULL);
  assert.equal(restrictionsClaim({}), undefined);
  assert.equal(restrictionsClaim(undefined), undefined);
});

const BAD: readonly (readonly [query: string, says: RegExp])[] = [
  ["path=", /^path: expected the absolute path/],
  ["path=data/", /^path:/],
  ["path=/data/run7", /slash at its end/],
  ["path=/data/*/", /^path:/],
  ["path=/data/[a]/", /^path:/],
  ["path=/data/a?/", /^path:/],
  ["path=/data/a:b/", /^path:/],
  ["path=/data/a%20/", /^path:/],
  ["path=/../", /^path:/],
  ["path=/a%0Ab/", /^path:/],
  [`path=/${"a".repeat(2100)}/`, /^path:/],
  [Array.from({ length: 17 }, (_, i) => `path=/${i}/`).join("&"), /^path: expected 1 to 16/],
  [Array.from({ length: 16 }, (_, i) => `path=/${i}${"b".repeat(200)}/`).join("&"), /at most 2048 bytes/],
  ["activity=", /^activity: expected read, write, all/],
  ["activity=READ", /^activity:/],
  ["server=", /^server:/],
  ["server=HPC-2", /^server:/],
  ["server=a%20b", /^server:/],
  ["address=", /^address:/],
  ["address=192.0.2.1/24", /^address:/],
  ["address=localhost", /^address:/],
];

for (const [query, says] of BAD) {
  Deno.test(`readRestrictions() refuses ${query.slice(0, 60)}`, () => {
    assert.throws(() => read(query), { code: "ERR_INVALID_TOKEN_REQUEST", message: says });
  });
}

Deno.test("readTokenRequest() accepts printable names of 1 to 100 characters", () => {
  const name = (text: string) => readTokenRequest(new URLSearchParams({ name: text })).name;
  assert.equal(name("night run, größer"), "night run, größer");
  for (const bad of ["", "x".repeat(101), "a\nb", "a\u202eb", "\u200b"]) {
    assert.throws(() => name(bad), { code: "ERR_INVALID_TOKEN_REQUEST" }, bad);
  }
});

Deno.test("restrictionsFromClaim() returns undefined for restrictions that it cannot read", () => {
  const bad: unknown[] = [
    null,
    "",
    [],
    { path: [] },
    { path: "/data/" },
    { path: [1] },
    { path: ["/data"] },
    { activity: "much" },
    { server: [] },
    { address: {} },
    { until: 1 },
  ];
  for (const claim of bad) assert.equal(restrictionsFromClaim(claim), undefined, JSON.stringify(claim));
});
