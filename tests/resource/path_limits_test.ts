import assert from "node:assert/strict";
import fc from "fast-check";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { limitsWithin, scopeWithin } from "../../src/resource/path_limits.ts";
import type { PathLimits } from "../../src/files/path_limits.ts";
import { patternsLieInside } from "../../src/daemon/encode_command.ts";
import type { ErrorCode } from "../../src/model/errors.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { matchesPattern } from "../../src/files/path_pattern.ts";
import type { Capability } from "../../src/model/identity.ts";

const KEPT: readonly (readonly [what: string, file: string, given: PathLimits, sent: PathLimits])[] = [
  ["no limits", "/data/", {}, {}],
  ["anything from home", "", { includes: "a/*:/b/*", excludes: ".ssh/*" }, {
    includes: "a/*:/b/*",
    excludes: ".ssh/*",
  }],
  ["suffixes from home, which a session may leave", "", { includes: "*.txt:a", excludes: "/x: *.key" }, {
    includes: "/*.txt:a",
    excludes: "/x:/*.key",
  }],
  ["suffixes of names only in the home directory", "./", { excludes: "*.key" }, { excludes: "*.key" }],
  ["patterns below", "/data/", { includes: "/data/a/*:/data/b" }, { includes: "/data/a/*:/data/b" }],
  ["one of two patterns below", "/data/public/", { includes: "/work/ann/*:/data/public/*" }, {
    includes: "/data/public/*",
  }],
  ["paths forbidden elsewhere", "/data/", { excludes: "/work/*: /data/x/*" }, { excludes: "/data/x/*" }],
  ["nothing forbidden there", "/data/", { excludes: "/work/*" }, {}],
  ["all paths in it allowed", "/data/a/", { includes: "/data/*:/work/*" }, { includes: "*" }],
  ["suffixes of names", "/data/", { includes: "*.txt", excludes: "*.key" }, {
    includes: "*.txt",
    excludes: "*.key",
  }],
  ["all paths from the root", "/", { includes: "/data/*", excludes: "/data/x" }, {
    includes: "/data/*",
    excludes: "/data/x",
  }],
  ["a directory that is not plain", "/data/../", { includes: "/etc/*", excludes: "/etc/shadow" }, {
    includes: "/etc/*",
    excludes: "/etc/shadow",
  }],
  ["a pattern that is not plain", "/etc/", { excludes: "/data/../etc/*" }, { excludes: "/data/../etc/*" }],
  ["a pattern that cuts across", "/data/a/", { includes: "/data/*/x" }, { includes: "/data/*/x" }],
];

for (const [what, file, given, sent] of KEPT) {
  Deno.test(`limitsWithin() with ${what}`, () => assertAlike(limitsWithin(file, given), sent));
}

const REFUSED: readonly (readonly [
  file: string,
  limits: PathLimits,
  code: ErrorCode,
])[] = [
  ["/data/", { includes: "/work/*" }, "ERR_OUTSIDE_LIMITS"],
  ["/data/a/", { excludes: "/data/*" }, "ERR_OUTSIDE_LIMITS"],
  ["/data/", { includes: "/data/*", excludes: "*" }, "ERR_OUTSIDE_LIMITS"],
  ["/", { excludes: ".ssh/*" }, "ERR_LIMITS_FROM_HOME"],
  ["/", { excludes: "*/.ssh/*" }, "ERR_LIMITS_FROM_HOME"],
  ["/", { excludes: "*secret*" }, "ERR_LIMITS_FROM_HOME"],
  ["../", { includes: "/data/*:pub/*" }, "ERR_LIMITS_FROM_HOME"],
];

for (const [file, limits, code] of REFUSED) {
  Deno.test(`limitsWithin() refuses a session in ${file} with ${JSON.stringify(limits)}`, () => {
    assert.throws(() => limitsWithin(file, limits), { code });
  });
}

const SEGMENT = fc.constantFrom("a", "b", "ab", "a*", "*", "?b", "[ab]");
const PATTERNS = fc.array(
  fc.array(SEGMENT, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join("/")}`),
  { minLength: 1, maxLength: 3 },
);
const NAMES = fc.array(fc.constantFrom("a", "b", "ab", "ba"), { minLength: 1, maxLength: 4 });

Deno.test("limitsWithin() allows and forbids, below a session's directory, what the user's limits do", () => {
  fc.assert(fc.property(PATTERNS, PATTERNS, NAMES, NAMES, (includes, excludes, base, below) => {
    const file = `/${base.join("/")}/`;
    const path = file + below.join("/");
    const wanted = includes.some((p) => matchesPattern(p, path)) &&
      !excludes.some((p) => matchesPattern(p, path));
    let sent: PathLimits;
    try {
      sent = limitsWithin(file, { includes: includes.join(":"), excludes: excludes.join(":") });
    } catch (error) {
      assert(isHttpError(error, "ERR_OUTSIDE_LIMITS"));
      assert(!wanted);
      return;
    }
    const lists = [sent.includes, sent.excludes].filter((list) => list !== undefined);
    if (!lists.every((list) => patternsLieInside(list, file))) return; // the service refuses the session
    const matches = (list: string | undefined) =>
      (list ?? "").split(":").some((p) => p !== "" && matchesPattern(p.startsWith("/") ? p : file + p, path));
    assert.equal(matches(sent.includes) && !matches(sent.excludes), wanted);
  }));
});

Deno.test("patternsLieInside() accepts any patterns without a base, and none that leave a base", () => {
  assert.ok(patternsLieInside("../x", ""));
  assert.ok(patternsLieInside("x:sub/../y", "data/"));
  for (const outside of ["", "../x", "../../data/x", "x:../../data/x"]) {
    assert.ok(!patternsLieInside(outside, "data/"), outside);
  }
});

const MIXED: readonly Capability[] = [
  { path: "/data/", access: "read" },
  { path: "/data/run7/", access: "all" },
];

Deno.test("scopeWithin() grants what the token's paths permit in a directory", () => {
  assertAlike(scopeWithin(MIXED, "/data/", {}), { permission: "READ", includes: "/data/*" });
  assertAlike(scopeWithin(MIXED, "/data/run7/a/", {}), {
    permission: "FULL",
    includes: "/data/run7/a/*",
  });
  assertAlike(scopeWithin([{ path: "/", access: "read" }], "/etc/", {}), {
    permission: "READ",
    includes: "/etc/*",
  });
});

Deno.test("scopeWithin() stays within the account's own limits", () => {
  const limits = { includes: "/data/run7/*:/home/*", excludes: "*.key" };
  assertAlike(scopeWithin(MIXED, "/data/run7/", limits), {
    permission: "FULL",
    includes: "/data/run7/*",
    excludes: "*.key",
  });
  const apart = { includes: "/home/*" };
  assert.throws(
    () => scopeWithin(MIXED, "/data/run7/", apart),
    (error) => isHttpError(error, "ERR_OUTSIDE_LIMITS"),
  );
  for (const includes of ["data/*", "data/*:/data/*"]) {
    assert.throws(
      () => scopeWithin(MIXED, "/data/run7/", { includes }),
      (error) => isHttpError(error, "ERR_LIMITS_FROM_HOME"),
    );
  }
});

for (
  const file of [
    ...[
      "",
      "./",
      "data/",
      "/",
      "/dat/",
      "/data2/",
      "/home/",
      "/data",
      "/data/run7",
      "/data/x",
      "/data/../etc/",
      "/data//run7/",
      "/data/./x/",
    ],
    ...["/data/run7/../../etc/", "/data/x*/"],
  ]
) {
  Deno.test(`scopeWithin() refuses a session that begins in ${JSON.stringify(file)}`, () => {
    assert.throws(
      () => scopeWithin(MIXED, file, {}),
      (error) => isHttpError(error, "ERR_OUTSIDE_CAPABILITIES"),
    );
  });
}

Deno.test("scopeWithin() permits nothing outside the token's paths, and writing only where they do", () => {
  const path = fc.array(fc.constantFrom("a", "b", "ab", "..", ".", "a*", "a:b"), { maxLength: 4 })
    .map((parts) => `/${parts.map((part) => `${part}/`).join("")}`);
  const capability = fc.record({ path, access: fc.constantFrom("read" as const, "all" as const) });
  fc.assert(fc.property(fc.array(capability), path, path, (capabilities, file, other) => {
    try {
      const { permission, includes = "" } = scopeWithin(capabilities, file, {});
      const covering = capabilities.filter((one) => file.startsWith(one.path));
      assert.ok(covering.length > 0);
      assert.equal(permission === "FULL", covering.some(({ access }) => access === "all"));
      const matched = includes.split(":").some((pattern) =>
        // A directory with a colon is the base of a relative pattern.
        pattern.startsWith("/") ? matchesPattern(pattern, `${other}x`) : `${other}x`.startsWith(file)
      );
      assert.equal(matched, `${other}x`.startsWith(file));
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_OUTSIDE_CAPABILITIES"), String(error));
    }
  }));
});
