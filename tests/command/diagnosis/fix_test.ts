import assert from "node:assert/strict";
import { fixOf, withRemedy } from "../../../src/command/diagnosis/fix.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";

const at = (expected: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: "error",
  file: "conf/c",
  line: 7,
  expected,
  ...more,
});

const REMEDIES: readonly (readonly [Diagnostic, string])[] = [
  [at("expected UTF-8 text"), "iconv -f LATIN1 -t UTF-8 conf/c -o conf/c.utf8 && cat conf/c.utf8 > conf/c"],
  [
    at("the certificate of CN=x in /c.pem has expired on 2020-01-01"),
    "renew /c.pem, then authserver reload; see: openssl x509 -noout -dates -in /c.pem",
  ],
  [
    at("/c.pem, /k.pem: expected the certificate of the private key, they do not belong together"),
    "put a pair there; compare: openssl x509 -noout -pubkey -in /c.pem; openssl pkey -pubout -in /k.pem",
  ],
  [
    at("expected a hash of 32 hexadecimal digits or $scrypt$…"),
    "write conf/c:7 anew: authserver passwd <user>",
  ],
  [
    at("expected a port number from 1 to 65535", { key: "container.port" }),
    "set container.port=<a port number from 1 to 65535> at conf/c:7",
  ],
  [at("expected persistence.directory too, the folder"), "add persistence.directory=<value> to conf/c"],
  [at("is also set in line 1; this line counts"), "remove conf/c:7, or line 1"],
  [at('expected {, found "<"'), "correct the syntax; see: sed -n 7p conf/c"],
  [at("anything", { fix: "what its reader says" }), "what its reader says"],
];

for (const [diagnostic, remedy] of REMEDIES) {
  Deno.test(`fixOf() answers "${diagnostic.expected}" by: ${remedy}`, () =>
    assert.equal(fixOf(diagnostic), remedy));
}

Deno.test("withRemedy() prints the problem and its remedy in a line each", () => {
  assert.equal(
    withRemedy(at("x", { fix: "y\u001b" })),
    "error: conf/c:7: x\n  fix: y\\u001b\n",
  );
});
