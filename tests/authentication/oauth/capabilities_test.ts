import assert from "node:assert/strict";
import fc from "fast-check";
import { readCapabilities } from "../../../src/authentication/oauth/token_requirements.ts";

const read = (scope: string, base = "") =>
  readCapabilities((name) => name === "scope" ? scope : undefined, base)
    .map(({ path, access }) => `${access} ${path}`);

const CASES: readonly [scope: string, capabilities: readonly string[]][] = [
  ["openid profile", []],
  ["storage.read:/data", ["read /data/"]],
  ["storage.read:/data/", ["read /data/"]],
  ["storage.read:/", ["read /"]],
  ["storage.stage:/data", ["read /data/"]],
  ["read:/data", ["read /data/"]],
  ["storage.read:/data storage.modify:/data/run7", ["read /data/", "all /data/run7/"]],
  ["storage.modify:/data storage.read:/data/run7", ["all /data/run7/"]],
  ["read:/a write:/a", ["all /a/"]],
  ["read:/a read:/a", ["read /a/"]],
  // Ignored, since daemons cannot enforce it: creation alone, or modification without reading.
  ["storage.modify:/data", []],
  ["storage.create:/data", []],
  ["storage.read:/data storage.create:/data", ["read /data/"]],
  ["storage.read:/data storage.modify:/data2", ["read /data/"]],
  // Paths that are not in normal form, or mean something else to daemons, and unknown scopes.
  ["storage.read", []],
  ["storage.read:", []],
  ["storage.read:data", []],
  ["storage.read:/data/../etc", []],
  ["storage.read:/data/./x", []],
  ["storage.read://data", []],
  ["storage.read:/data//x", []],
  ["storage.read:/da*", []],
  ["storage.read:/da?a", []],
  ["storage.read:/[d]ata", []],
  ["storage.read:/a:/b", []],
  ["storage.read:/a%2Fb", []],
  ["storage.read:/a\u0000", []],
  ["STORAGE.READ:/data", []],
  ["storage.readall:/data", []],
];
for (const [scope, expected] of CASES) {
  Deno.test(`readCapabilities() of ${JSON.stringify(scope)}`, () => assert.deepEqual(read(scope), expected));
}

Deno.test("readCapabilities() resolves paths against the base", () => {
  assert.deepEqual(read("storage.read:/ storage.modify:/x", "/srv/vo"), ["read /srv/vo/", "all /srv/vo/x/"]);
});

Deno.test("readCapabilities() never leaves the base, and permits writing only where a scope does", () => {
  const word = fc.oneof(fc.string(), fc.constantFrom("..", ".", "a", "b", "/", "//", "%2e%2e"));
  const scope = fc.tuple(
    fc.constantFrom("storage.read:", "storage.modify:", "read:", "write:", "storage.create:"),
    fc.array(word, { maxLength: 5 }),
  ).map(([name, words]) => `${name}/${words.join("/")}`);
  fc.assert(fc.property(fc.array(scope, { maxLength: 5 }), (scopes) => {
    for (const capability of readCapabilities((name) => name === "scp" ? scopes : undefined, "/base")) {
      assert.ok(capability.path.startsWith("/base/") && capability.path.endsWith("/"));
      assert.ok(!capability.path.split("/").includes(".."));
      if (capability.access === "all") {
        assert.ok(scopes.join(" ").split(" ").some((one) => /^(?:storage\.modify|write):/.test(one)));
      }
    }
  }));
});
