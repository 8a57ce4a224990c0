import type { SessionScope } from "../../src/daemon/session/session_client.ts";
import assert from "node:assert/strict";
import type { PathLimits } from "../../src/files/path_limits.ts";
import { grantedScope, mediatedScope } from "../../src/files/session_scope.ts";

const MEDIATED: [string, SessionScope][] = [
  ["/data/f.txt", { file: "/data/", includes: "/data/f.txt" }],
  ["/data/d/", { file: "/data/d/", includes: "/data/d/*" }],
  ["/f", { file: "/", includes: "/f" }],
  ["/", { file: "/", includes: "/*" }],
  ["/data/a[1].txt", { file: "/data/", includes: "/data/a[[]1].txt" }],
  ["/data/*/f", { file: "/data/", includes: "/data/[*]/f" }],
  ["/data/a[1]/d/", { file: "/data/", includes: "/data/a[[]1]/d/*" }],
  ["/data/a:b", { file: "/data/", includes: "/data/a?b" }],
  ["/da:ta/f.txt", { file: "/", includes: "/da?ta/f.txt" }],
  ["/data/a:b/d/", { file: "/data/", includes: "/data/a?b/d/*" }],
  ["/data/end ", { file: "/data/", includes: "/data/end /." }],
];

for (const [path, expected] of MEDIATED) {
  Deno.test(`mediatedScope() of ${path}`, () => assert.deepEqual(mediatedScope(path), expected));
}

const GRANTED: [string, PathLimits, SessionScope][] = [
  ["/data/d/", {}, { file: "/data/d/", includes: "/data/d/*" }],
  ["/data/f.txt", {}, { file: "/data/", includes: "/data/f.txt" }],
  ["/data/e", {}, { file: "/data/", includes: "/data/e" }],
  ["/data/a*.txt", {}, { file: "/data/", includes: "/data/a[*].txt" }],
  ["/da:ta/d/", {}, { file: "/da:ta/d/", includes: "*" }],
  ["/da:ta/f", {}, { file: "/da:ta/", includes: "f" }],
  ["/", {}, { file: "/", includes: "/*" }],
  ["/data/d/", { includes: "/data/*:/other/*" }, { file: "/data/d/", includes: "/data/d/*" }],
  ["/data/d/", { includes: "/data/d/pub/*:/x" }, { file: "/data/d/", includes: "/data/d/pub/*" }],
  [
    "/data/d/",
    { excludes: "/data/d/secret/*:/elsewhere/*" },
    { file: "/data/d/", includes: "/data/d/*", excludes: "/data/d/secret/*" },
  ],
  ["/data/d/", { excludes: "/elsewhere/*" }, { file: "/data/d/", includes: "/data/d/*" }],
];

for (const [path, limits, expected] of GRANTED) {
  Deno.test(`grantedScope() of ${path} with ${JSON.stringify(limits)}`, () => {
    assert.deepEqual(grantedScope(path, [limits]), expected);
  });
}

const THEN_AND_NOW: [PathLimits[], Omit<SessionScope, "file">][] = [
  [[{ excludes: "/d/a" }, { excludes: "/d/b/*:/d/a" }], { includes: "/d/*", excludes: "/d/a:/d/b/*" }],
  [[{}, { includes: "/d/a/*" }], { includes: "/d/a/*" }],
  [[{ includes: "/d/a/*" }, {}], { includes: "/d/a/*" }],
  [[{ includes: "/d/a/*:/d/c" }, { includes: "/d/b/*:/d/a/x:/d/c" }], { includes: "/d/a/x:/d/c" }],
  [[{ includes: "/*" }, { includes: "/d/a/*" }], { includes: "/d/a/*" }],
  [[{ includes: "/d/a" }, { excludes: "/d/a/b" }], { includes: "/d/a", excludes: "/d/a/b" }],
];

for (const [limits, expected] of THEN_AND_NOW) {
  Deno.test(`grantedScope() applies all of ${JSON.stringify(limits)}`, () => {
    assert.deepEqual(grantedScope("/d/", limits), { file: "/d/", ...expected });
  });
}

Deno.test("grantedScope() refuses limits without common paths, or with common paths that no pattern expresses", () => {
  for (const now of ["/d/b/*", "/d/*b"]) {
    assert.throws(
      () => grantedScope("/d/", [{ includes: "/d/a*" }, { includes: now }]),
      { code: "ERR_SCOPE_NOT_EXPRESSIBLE" },
    );
  }
});

const REFUSED: [string, PathLimits][] = [
  ["/data/a[1]/", {}],
  ["/data/*/f", {}],
  ["/data/a:b", {}],
  ["/da:ta/ f", {}],
  ["/data/d/", { includes: "/data/*.txt" }],
  ["/data/d/", { includes: "/elsewhere/*" }],
  ["/data/d/", { excludes: "*.key" }],
];

for (const [path, limits] of REFUSED) {
  Deno.test(`grantedScope() refuses ${path} with ${JSON.stringify(limits)}`, () => {
    assert.throws(() => grantedScope(path, [limits]), { code: "ERR_SCOPE_NOT_EXPRESSIBLE" });
  });
}
