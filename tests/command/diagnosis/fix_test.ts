import assert from "node:assert/strict";
import { fixOf, withRemedy } from "../../../src/command/diagnosis/fix.ts";
import { inspectPasswordFile } from "../../../src/authentication/password/password_table.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";

const at = (expected: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: "error",
  file: "conf/c",
  line: 7,
  expected,
  ...more,
});

const REMEDIES: readonly (readonly [Diagnostic, string])[] = [
  [
    at("expected PKCS#12, this is a Java key store; convert it: keytool a b"),
    "keytool a b # then name the new file at conf/c:7",
  ],
  [at("not an attribute, did you mean xlogin?"), "write xlogin at conf/c:7"],
  [at("expected an account; others count, too: not here"), "write an account at conf/c:7"],
  [
    at("Expected an expression as the manual describes: line 1: expected a value", { key: "container.a" }),
    "set container.a=<an expression as the manual describes> at conf/c:7",
  ],
  [
    at("expected the name of a group, or several with : between"),
    "write the name of a group, or several with : between at conf/c:7",
  ],
  [
    at("expected a port number from 1 to 65535", { key: "container.port" }),
    "set container.port=<a port number from 1 to 65535> at conf/c:7",
  ],
  [
    at("missing, expected a path", { key: "share.a", line: undefined }),
    "set share.a=<a path> at conf/c",
  ],
  [at("expected persistence.directory too, the folder"), "add persistence.directory=<value> to conf/c"],
  [
    at("anyone can pose as it, expected FAIL", { key: "container.client.serverHostnameChecking" }),
    "set container.client.serverHostnameChecking=FAIL at conf/c:7",
  ],
  [
    at("conf/c.pem: expected an X.509 certificate, this one cannot be read", { key: "share.a" }),
    "set share.a=<a file with an X.509 certificate> at conf/c:7",
  ],
  [
    at("expected addresses such as 192.0.2.0/24, not gw", { key: "share.a" }),
    "set share.a=<addresses such as 192.0.2.0/24> at conf/c:7",
  ],
  [
    at("expected a distinguished name: expected an attribute such as CN= (at character 1)"),
    "write a distinguished name at conf/c:7",
  ],
  [
    at("expected container.a.“A;B”.class too, since “A;B” has no default class"),
    "add container.a.“A;B”.class=<value> to conf/c",
  ],
  [at("expected share.mail=true too"), "add share.mail=true to conf/c"],
  [
    at("is also set in line 1; this line applies", { key: "container.port" }),
    "remove conf/c:7, or change it",
  ],
  [
    at("conf/c.pem: expected the certificate of the private key; they do not belong together", {
      key: "container.security.credential.path",
    }),
    "set container.security.credential.path=<a file with the certificate of the private key> at conf/c:7",
  ],
  [
    at("conf/c.p12: expected the right password of the key store, or the file is damaged", {
      key: "container.security.credential.path",
    }),
    "correct the password that is set beside container.security.credential.path at conf/c:7",
  ],
  [
    at("expected either a.password or a.passwordFile", { key: "persistence.passwordFile" }),
    "keep one of them: see conf/c:7",
  ],
  [
    at("conf/ca.pem: cannot read it: no permission to read it", { key: "share.a" }),
    "put a file at conf/ca.pem that the account of the service can read, or name another one",
  ],
  [
    at("expected names from authservice.servers; ignored: HPC", { key: "share.servers" }),
    "set share.servers=<names from authservice.servers> at conf/c:7",
  ],
  [at("is cut off"), "correct conf/c:7"],
  [at("anything", { fix: "what its reader says" }), "what its reader says"],
];

for (const [diagnostic, remedy] of REMEDIES) {
  Deno.test(`fixOf() returns for "${diagnostic.expected}": ${remedy}`, () =>
    assert.equal(fixOf(diagnostic), remedy));
}

Deno.test("withRemedy() prints a diagnostic and its remedy on a line each", () => {
  assert.equal(
    withRemedy(at("x", { fix: "y\u001b" })),
    "error: conf/c:7: x\n  fix: y\\u001b\n",
  );
});

for (
  const [what, content, fix] of [
    [
      "Latin-1 text",
      Uint8Array.of(0x63, 0x68, 0xe4),
      /^text=\$\(iconv -f LATIN1 -t UTF-8 (\S+)\) && .* > \1$/,
    ],
    ["an invalid hash", new TextEncoder().encode("ann:x:y:CN=Ann\n"), /authserver passwd change <user>$/],
  ] as const
) {
  Deno.test(`inspectPasswordFile() names the command that fixes ${what}`, async () => {
    const file = await Deno.makeTempFile();
    await Deno.writeFile(file, content, { mode: 0o600 });
    const { diagnostics: [first] } = await inspectPasswordFile(file);
    assert.ok(first);
    assert.match(fixOf(first), fix);
    await Deno.remove(file);
  });
}
