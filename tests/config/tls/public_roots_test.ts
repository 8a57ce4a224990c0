import assert from "node:assert/strict";
import { loadPublicRoots } from "../../../src/config/tls/public_roots.ts";
import { createAuthority } from "../../pki/authority.ts";

const ORIGIN = { file: "conf/container.properties", line: 3, key: "container.security.truststore" };
const [one, two] = ["CN=A", "CN=B"].map((subject) => createAuthority({ subject }).certificate);

const BUNDLES: readonly (readonly [string, readonly (string | undefined)[], number, RegExp | undefined])[] = [
  ["the first that is there", [undefined, `${one}${two}`, one], 2, undefined],
  ["one certificate", [one], 1, undefined],
  ["no certificate", ["nothing\n"], 0, /^expected certificates in .*1$/],
  ["half a certificate", [one?.slice(0, 200)], 0, /^expected certificates in .*1$/],
  [
    "a certificate that is none",
    ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    0,
    /1: /,
  ],
  ["no file", [undefined], 0, /install the package ca-certificates$/],
];
for (const [what, texts, count, expected] of BUNDLES) {
  Deno.test(`loadPublicRoots() of ${what} finds ${count}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "authserver-roots-" });
    try {
      const paths = texts.map((_, i) => `${folder}/${i + 1}`);
      for (const [i, text] of texts.entries()) {
        if (text !== undefined) await Deno.writeTextFile(`${folder}/${i + 1}`, text);
      }
      const { roots, diagnostics, files } = await loadPublicRoots(ORIGIN, paths);
      assert.equal(roots.length, count);
      assert.equal(diagnostics.length, expected === undefined ? 0 : 1);
      for (const diagnostic of diagnostics) {
        assert.match(diagnostic.expected, expected ?? /never/);
        assert.deepEqual([diagnostic.severity, diagnostic.line, diagnostic.key], ["error", 3, ORIGIN.key]);
      }
      const read = paths.filter((_, i) => texts[i] !== undefined).slice(0, 1);
      assert.deepEqual(files, read);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
