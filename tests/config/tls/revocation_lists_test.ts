import assert from "node:assert/strict";
import { loadTruststore } from "../../../src/config/tls/truststore.ts";
import type { RevocationConfig } from "../../../src/config/service_config.ts";
import { createAuthority } from "../../pki/authority.ts";

const NOW = Date.parse("2026-01-05T09:00:00Z");
const authority = createAuthority({ subject: "CN=Root" });
const leaf = authority.issue({ subject: "CN=Ann" }).certificate;
const good = authority.revoke([leaf]);

/** Loads a truststore of one authority, with revocation lists in these files. */
async function load(files: Record<string, string | Uint8Array>, mode: RevocationConfig["mode"] = "IF_VALID") {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/ca.pem`, authority.certificate);
    for (const [name, content] of Object.entries(files)) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      await Deno.writeFile(`${folder}/${name}`, bytes);
    }
    const origin = { file: "f", line: 1, key: "crl" };
    const { revocation, diagnostics, files: read } = await loadTruststore({
      type: "directory",
      encoding: "PEM",
      locations: [`${folder}/ca.pem`],
      updateIntervalSeconds: 600,
      origin,
      revocation: { mode, locations: [`${folder}/*.crl`], origin },
    }, NOW);
    return {
      lists: revocation?.lists.length,
      found: diagnostics.map(({ severity, expected }) => `${severity}: ${expected.replaceAll(folder, "")}`),
      read: read.map((path) => path.replace(folder, "")),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const der = Uint8Array.fromBase64(good.replace(/-----[^-]+-----|\s+/g, ""));
const old = { nextUpdate: new Date("2025-12-31T00:00:00Z") };

const FACTS: readonly [
  fact: string,
  files: Record<string, string | Uint8Array>,
  lists: number,
  found: string[],
][] = [
  ["PEM", { "a.crl": good }, 1, []],
  ["DER", { "a.crl": der }, 1, []],
  ["several in one file", { "a.crl": `# lists\n${good}${authority.revoke([])}` }, 2, []],
  ["an expired one", { "a.crl": authority.revoke([], old) }, 1, [
    "warning: /a.crl: expected a newer revocation list, this one held until 2025-12-31",
  ]],
  ["one of an unknown authority", { "a.crl": createAuthority({ subject: "CN=Root" }).revoke([]) }, 1, [
    "warning: /a.crl: no trusted authority signed this revocation list, it counts if one in between did",
  ]],
  ["a certificate", { "a.crl": leaf }, 0, [
    "warning: /a.crl: expected a revocation list: there is none in the file",
  ]],
  ["text", { "a.crl": "x" }, 0, [
    "warning: /a.crl: expected a revocation list: The bytes are not well-formed DER",
  ]],
];

for (const [fact, files, lists, found] of FACTS) {
  Deno.test(`loadTruststore() reads revocation lists: ${fact}`, async () => {
    const loaded = await load(files);
    assert.equal(loaded.lists, lists);
    assert.deepEqual(loaded.found, found);
    assert(loaded.read.includes("/a.crl") && loaded.read.includes(""), "file and folder are watched");
  });
}

Deno.test("loadTruststore() warns that all certificates are refused if lists are required but missing", async () => {
  assert.match((await load({}, "REQUIRE")).found.join(), /without revocation lists no certificate will do/);
});
