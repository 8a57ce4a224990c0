import assert from "node:assert/strict";
import { inspectMapFile } from "../../../src/attributes/file/map_inspection.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";

async function inspect(text: string, matching: "strict" | "regexp" = "strict") {
  const { diagnostics, servers } = await inspectMapFile(text, { file: "map", matching });
  return { diagnostics: diagnostics.map((p) => `${p.severity} ${formatDiagnostic(p)}`), servers };
}

Deno.test("inspectMapFile() reports no diagnostics for the examples, and the servers that they name", async () => {
  for (const [name, lines] of [["variant_a.json", [7, 18]], ["variant_b.xml", [19, 47]]] as const) {
    const text = await Deno.readTextFile(new URL(`../../fixtures/attributes/${name}`, import.meta.url));
    assert.deepEqual(await inspect(text), {
      diagnostics: [],
      servers: new Map([["ALPHA", lines[0]], ["BETA", lines[1]]]),
    });
  }
});

Deno.test("inspectMapFile() does not warn of mail", async () => {
  assert.deepEqual((await inspect('{"CN=x": {"mail": "x@example.org"}}')).diagnostics, []);
});

/** Attributes of an entry, each with its diagnostic. */
const DIAGNOSTICS: readonly (readonly [string, string])[] = [
  [
    '"uftpd.S.rateLimit": "fast"',
    "warning map:2: CN=x: uftpd.S.rateLimit = fast: expected bytes per second, such as",
  ],
  ['"daemon.S.rateLimit": "-5"', "warning map:2: CN=x: daemon.S.rateLimit = -5: expected bytes per second"],
  ['"uftpd.S.rateLimit": []', "warning map:2: CN=x: uftpd.S.rateLimit: expected a value"],
  ['"uftpd.S.includes": ""', "warning map:2: CN=x: uftpd.S.includes: expected a value"],
  [
    '"uftpd.S.includes": ":"',
    "warning map:2: CN=x: uftpd.S.includes = :: expected path patterns, sessions are refused",
  ],
  [
    '"daemon.S.excludes": "/etc/*:.ssh/*"',
    "warning map:2: CN=x: daemon.S.excludes = /etc/*:.ssh/*: expected patterns that begin with a slash",
  ],
  ['"xlogin": ["ann", "root"]', "warning map:2: CN=x: xlogin = root: expected an account without privileges"],
  [
    '"uftpd.S.xlogin": "0"',
    "warning map:2: CN=x: uftpd.S.xlogin = 0: expected an account without privileges",
  ],
  ['"XLOGIN": "a b"', "warning map:2: CN=x: XLOGIN = a b: expected the name of an account"],
  [
    '"group": "g1:g 2"',
    "warning map:2: CN=x: group = g1:g 2: expected the name of a group, or several with : between",
  ],
  ['"group": ""', "warning map:2: CN=x: group: expected the name of a group"],
  [
    '"supplementaryGroups": ["a", "-"]',
    "warning map:2: CN=x: supplementaryGroups = -: expected the name of a group",
  ],
  [
    `"uftpd.S.xlogin": ["ann", "${"b".repeat(60)}"]`,
    `warning map:2: CN=x: uftpd.S.xlogin: of several values only the last counts, expected one: ${
      "b".repeat(50)
    }`,
  ],
  [
    '"uftpd.S.ratelimit": "5"',
    "warning map:2: CN=x: uftpd.S.ratelimit: expected one of xlogin, group, rateLimit",
  ],
  [
    '"RateLimit": "5"',
    "warning map:2: CN=x: RateLimit: not used without a server, expected uftpd.<server>.rateLimit",
  ],
  [
    '"daemon.S.group": "a", "uftpd.S.group": "b"',
    "warning map:2: CN=x: daemon.S.group: not used; uftpd.S.group applies",
  ],
];

Deno.test("inspectMapFile() warns of values that would refuse sessions, and of values without effect", async () => {
  for (const [attributes, diagnostic] of DIAGNOSTICS) {
    const { diagnostics } = await inspect(`{"CN=x":\n{${attributes}}}`);
    assert.equal(diagnostics.length, 1, attributes);
    assert.ok(diagnostics[0]?.startsWith(diagnostic), diagnostics[0]);
    assert.ok(!diagnostics[0]?.includes("b".repeat(51)), "values are cut");
  }
});

Deno.test("inspectMapFile() requires neither account nor role of users who are banned", async () => {
  const diagnosticsOf = async (attributes: string) => {
    const text = `{"CN=x":\n{${attributes}}}`;
    const { diagnostics } = await inspectMapFile(text, { file: "map", matching: "strict", alone: true });
    return diagnostics.map(({ expected }) => expected.slice(0, 9));
  };
  assert.deepEqual(await diagnosticsOf('"role": "banned"'), []);
  assert.deepEqual(await diagnosticsOf('"role": "user"'), ["no xlogin"]);
  assert.deepEqual(await diagnosticsOf('"xlogin": "ann"'), ["no role, "]);
});

Deno.test("inspectMapFile() also reports errors that make the file unusable", async () => {
  assert.deepEqual((await inspect('{"demouser": {}}')).diagnostics.map((p) => p.slice(0, 56)), [
    "error map:1: demouser: expected a distinguished name: ex",
  ]);
  assert.deepEqual((await inspect("nonsense")).diagnostics.length, 1);
  assert.deepEqual((await inspect('{"cn=(": {}}', "regexp")).diagnostics.length, 1);
});

Deno.test("inspectMapFile() returns the users of entries if keys are names, not patterns", async () => {
  const text = '{\n"CN=x": { "role": "user" },\n"CN=y": { "role": "user" }\n}';
  const { names } = await inspectMapFile(text, { file: "map", matching: "strict" });
  assert.deepEqual(names, [{ key: "CN=x", line: 2 }, { key: "CN=y", line: 3 }]);
  assert.deepEqual((await inspectMapFile(text, { file: "map", matching: "regexp" })).names, []);
});

Deno.test("inspectMapFile() warns of patterns with a wildcard that matches beyond one value, and suggests a fix", async () => {
  const inspected = (entry: string) => inspectMapFile(`{${entry}}`, { file: "map", matching: "regexp" });
  const { diagnostics } = await inspected('"CN=.*,O=Site": {"role": "admin"}');
  const expected = "a wildcard in it matches further parts of a name as well, such as an OU in between";
  const fix = "Write [^,+]* in place of .* wherever one value is meant.";
  assert.deepEqual(diagnostics, [
    { severity: "warning", file: "map", line: 1, key: "CN=.*,O=Site", expected, fix },
  ]);
  for (
    const entry of [
      '"CN=[^,+]*,O=Site": {"role": "admin"}',
      '".*": {"role": "user"}',
      '"CN=.*,O=Evil": {"role": "banned"}',
    ]
  ) assert.deepEqual((await inspected(entry)).diagnostics, [], entry);
});
