import assert from "node:assert/strict";
import { AUTHENTICATION, loadAuthentication } from "./load_authentication.ts";
import { OAUTH_DEFAULTS } from "./oauth_defaults.ts";

async function kinds(...lines: string[]): Promise<unknown> {
  const { config, errors } = await loadAuthentication(...lines);
  assert.deepEqual(errors, []);
  return config?.authentication.authenticators.map(({ name, kind }) => `${name} ${kind}`);
}

for (
  const order of ["X509 SSHKEY", "X509 | SSHKEY", "X509,SSHKEY", "X509|SSHKEY", " ,X509\t\t| ,SSHKEY,, "]
) {
  Deno.test(`readAuthentication() reads the order ${JSON.stringify(order)}`, async () => {
    assert.deepEqual(await kinds(`order=${order}`), ["X509 X509Authenticator", "SSHKEY SSHKeyAuthenticator"]);
  });
}

Deno.test("readAuthentication() maps the usual names to classes", async () => {
  assert.deepEqual(
    await kinds(
      "order=FILE PASSWORD SSHKEY OAUTH UNITY UNITY-PASSWORD UNITY-OAUTH X509",
      "FILE.file=conf/users.txt",
      "PASSWORD.file=conf/users.txt",
      "OAUTH.address=https://idp/",
      "OAUTH.identityAssign=sub",
      "UNITY.address=https://idp/",
      "UNITY-PASSWORD.address=https://idp/",
      "UNITY-OAUTH.address=https://idp/",
    ),
    [
      "FILE FilebasedAuthenticator",
      "PASSWORD FilebasedAuthenticator",
      "SSHKEY SSHKeyAuthenticator",
      "OAUTH OAuthAuthenticator",
      "UNITY UnitySAMLAuthenticator",
      "UNITY-PASSWORD UnitySAMLAuthenticator",
      "UNITY-OAUTH UnityOAuthAuthenticator",
      "X509 X509Authenticator",
    ],
  );
});

for (
  const path of [
    "eu.unicore.services.rest.security.",
    "eu.unicore.uftp.authserver.authenticate.",
    "a.b$c.",
    "",
  ]
) {
  Deno.test(`readAuthentication() finds a class in the package ${path || "without name"}`, async () => {
    assert.deepEqual(await kinds("order=KEYS", `KEYS.class=${path}SSHKeyAuthenticator`), [
      "KEYS SSHKeyAuthenticator",
    ]);
  });
}

Deno.test("readAuthentication() reads parameters in any case, trimmed", async () => {
  const { config, errors } = await loadAuthentication(
    "order=PASSWORD",
    "PASSWORD.CLASS=FilebasedAuthenticator ",
    "PASSWORD.FILE= conf/users.txt ",
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.authentication.authenticators, [
    { kind: "FilebasedAuthenticator", name: "PASSWORD", file: "/conf/users.txt" },
  ]);
});

Deno.test("readAuthentication() reads requirements for OAuth tokens", async () => {
  const { config } = await loadAuthentication(
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=@conf/expr",
    "OAUTH.requiredAudience=uftp https://uftp.example",
    "OAUTH.requiredClient=portal",
    "OAUTH.requiredScope=transfer",
    "OAUTH.doTLSAuthn=true",
    "failOnMissingAuthCredentials=true",
  );
  assert.deepEqual(config?.authentication, {
    failOnMissingCredentials: true,
    authenticators: [{
      kind: "OAuthAuthenticator",
      name: "OAUTH",
      address: "https://idp/",
      assignments: {
        identity: {
          text: '"UID="+x',
          origin: { file: "/conf/expr", line: 1, key: `${AUTHENTICATION}OAUTH.identityAssign` },
        },
      },
      showCertificate: true,
      prefix: `${AUTHENTICATION}OAUTH.`,
      ...OAUTH_DEFAULTS,
      requiredAudience: ["uftp", "https://uftp.example"],
      requiredClient: ["portal"],
      requiredScope: ["transfer"],
    }],
  });
});

const PATH = "a path, relative ones start from the working directory";
const CLASSES = "FilebasedAuthenticator, SSHKeyAuthenticator, OAuthAuthenticator, UnitySAMLAuthenticator, " +
  "UnityOAuthAuthenticator, LDAPAuthenticator, X509Authenticator";

const BAD: [what: string, lines: string[], errors: string[]][] = [
  ["a name without class", ["order=SSHKEY LOGIN"], [
    "1: order: expected LOGIN.class too, since LOGIN has no default class",
  ]],
  ["a mistyped name", ["order=PASWORD", "PASWORD.file=conf/users.txt"], [
    "1: order: expected PASWORD.class too, since PASWORD has no default class, did you mean PASSWORD?",
  ]],
  ["a mistyped class", ["order=A", "A.class=eu.x.FileBasedAuthenticater", "A.file=conf/users.txt"], [
    `2: A.class = FileBasedAuthenticater: expected one of the classes ${CLASSES}, ` +
    "did you mean FilebasedAuthenticator?",
  ]],
  ["an invalid class", ["order=A", "A.class=rm -rf"], [
    "2: A.class = rm -rf: expected a class name",
  ]],
  ["PAM", ["order=PAM", "PAM.moduleName=unicorex"], [
    "1: order: PAM is not supported, expected a password file (FilebasedAuthenticator) or an identity provider",
  ]],
  ["PAM by class", ["order=X", "X.class=eu.unicore.services.rest.security.PAMAuthenticator"], [
    "2: X.class = PAMAuthenticator: PAM is not supported, " +
    "expected a password file (FilebasedAuthenticator) or an identity provider",
  ]],
  ["a password file that is not configured", ["order=PASSWORD"], [
    `1: PASSWORD.file: missing, expected ${PATH}`,
  ]],
  ["a missing password file", ["order=PASSWORD", "PASSWORD.file=conf/none"], [
    "2: PASSWORD.file: cannot read /conf/none: there is no such file",
  ]],
  ["a duplicate parameter", ["order=PASSWORD", "PASSWORD.file=conf/users.txt", "PASSWORD.File=conf/x"], [
    "3: PASSWORD.File: is the same key as PASSWORD.file, expected one of them",
  ]],
  ["SSH keys without a source", ["order=SSHKEY", "SSHKEY.useAuthorizedKeys=false"], [
    "2: SSHKEY.useAuthorizedKeys = false: expected SSHKEY.file too, there are no keys otherwise",
  ]],
  ["a missing key file", ["order=SSHKEY", "SSHKEY.file=none"], [
    "2: SSHKEY.file: cannot read /none: there is no such file",
  ]],
  ["the same name for all users", ["order=SSHKEY", "SSHKEY.dnTemplate=CN=user"], [
    "2: SSHKEY.dnTemplate = CN=user: expected a distinguished name with %s in it",
  ]],
  ["an invalid name", ["order=SSHKEY", "SSHKEY.dnTemplate=%s"], [
    "2: SSHKEY.dnTemplate = %s: expected a distinguished name with %s in it",
  ]],
  ["a negative interval", ["order=SSHKEY", "SSHKEY.updateInterval=-1"], [
    "2: SSHKEY.updateInterval = -1: expected a whole number from 1 to 2147483647 (seconds)",
  ]],
  ["Unity without an address", ["order=UNITY", "UNITY.uidAssign=x"], [
    "2: UNITY.address: missing, expected a URL that begins with https:// or http://",
  ]],
  ["Unity names that are not distinguished names", [
    "order=UNITY",
    "UNITY.address=https://idp/",
    "UNITY.nameIdFormat=persistent",
  ], [
    "3: UNITY.nameIdFormat = persistent: expected UNITY.identityTemplate too, such as CN=%NameID%,O=%Issuer%",
  ]],
  ["a transient name format", [
    "order=UNITY",
    "UNITY.address=https://idp/",
    "UNITY.nameIdFormat=transient",
  ], [
    "3: UNITY.nameIdFormat = transient: expected one of X509SubjectName, persistent, emailAddress, unspecified",
  ]],
  ["the same Unity name for all users", [
    "order=UNITY",
    "UNITY.address=https://idp/",
    "UNITY.identityTemplate=CN=all",
  ], [
    "3: UNITY.identityTemplate = CN=all: expected a claim such as %NameID%, or all users would have one name",
  ]],
];

for (const [what, lines, errors] of BAD) {
  Deno.test(`readAuthentication() refuses ${what}`, async () => {
    const loaded = await loadAuthentication(...lines);
    assert.deepEqual(loaded.errors.toSorted(), errors.toSorted());
    assert.deepEqual(loaded.warnings, []);
    assert.equal(loaded.config, undefined);
  });
}

const DOUBTFUL: [what: string, lines: string[], warnings: string[]][] = [
  ["an empty order", ["order="], [
    "1: order: no method of authentication, so that every caller is anonymous; expected names such as PASSWORD",
  ]],
  ["methods that are not in the order", [
    "order=SSHKEY",
    "OAUTH.address=x",
    "OAUTH.validate=x",
    "UNITY.address=y",
  ], [
    "2: OAUTH.address: not used, OAUTH is not in order",
    "4: UNITY.address: not used, UNITY is not in order",
  ]],
  ["a parameter of another class of the Java service", ["order=SSHKEY", "SSHKEY.clientID=x"], [
    "2: SSHKEY.clientID: unknown key",
  ]],
  ["ineffective parameters", ["order=SSHKEY", "SSHKEY.IdentityAssign=x", "SSHKEY.userInfo=a.B"], [
    "2: SSHKEY.IdentityAssign: ignored: the name comes from the keys file or from dnTemplate",
    "3: SSHKEY.userInfo: ignored: keys come from the keys file and the daemons only",
  ]],
  ["the legacy token", ["order=SSHKEY", "SSHKEY.legacyToken=true"], [
    "2: SSHKEY.legacyToken = true: who has seen such a token can use it again, expected false",
  ]],
  ["assertions without signature", ["order=UNITY", "UNITY.address=https://idp/", "UNITY.validate=false"], [
    "3: UNITY.validate = false: assertions are believed without a valid signature, expected true",
  ]],
];

for (const [what, lines, warnings] of DOUBTFUL) {
  Deno.test(`readAuthentication() warns about ${what}`, async () => {
    const loaded = await loadAuthentication(...lines);
    assert.deepEqual(loaded.errors, []);
    assert.deepEqual(loaded.warnings, warnings);
    assert.ok(loaded.config);
  });
}

/** Pairs of methods that query their providers, and the warning if one provider gets tokens of the other. */
const SHOWN:
  readonly (readonly [one: readonly string[], two: readonly string[], shown: string | undefined])[] = [
    [["issuer"], ["issuer"], undefined],
    [["issuer"], ["issuer", "opaque"], undefined],
    [["issuer", "opaque"], ["issuer"], undefined],
    [["issuer", "opaque"], ["issuer", "opaque"], "A is shown tokens that are for B"],
    [["address"], ["issuer"], "A is shown tokens that are for B"],
    [["issuer"], ["address"], "B is shown tokens that are for A"],
    [["address"], ["address"], "A is shown tokens that are for B"],
  ];

Deno.test("readAuthentication() warns if one provider is sent tokens of another, opaque or signed", async () => {
  const lines = (name: string, keys: readonly string[]) => [
    `${name}.class=OAuthAuthenticator`,
    keys.includes("issuer") ? `${name}.issuer=https://${name}.example` : `${name}.address=https://${name}/`,
    `${name}.opaqueTokens=${keys.includes("opaque") || keys.includes("address")}`,
    `${name}.requiredAudience=uftp`,
    `${name}.identityAssign="UID="+x`,
  ];
  for (const [one, two, shown] of SHOWN) {
    const { errors, warnings } = await loadAuthentication(
      "order=A B",
      ...lines("A", one),
      ...lines("B", two),
    );
    assert.deepEqual(errors, []);
    const found = warnings.filter((text) => text.includes("is shown tokens"));
    assert.equal(found.length, shown === undefined ? 0 : 1, `${one} ${two}`);
    if (shown !== undefined) assert(found[0]?.includes(shown), found[0]);
  }
});

Deno.test("readAuthentication() warns about user names that contain an unverified issuer", async () => {
  for (const naming of ["identityTemplate=CN=%sub%,O=%iss%", 'identityAssign="CN="+sub+",O="+iss']) {
    const { warnings } = await loadAuthentication(
      "order=A",
      "A.class=OAuthAuthenticator",
      "A.address=https://a/",
      `A.${naming}`,
    );
    assert(warnings.some((text) => text.includes("nobody verifies the iss")), naming);
  }
});

/** Restrictions that are mistyped or in the wrong place: ignoring them would admit everybody. */
const MISSPELT: readonly (readonly [line: string, error: string])[] = [
  ["OAUTH.requiredGroup=projA", "OAUTH.requiredGroup: unknown key, did you mean OAUTH.requiredGroups?"],
  ["OAUTH.reqiredScope=transfer", "OAUTH.reqiredScope: unknown key, did you mean OAUTH.requiredScope?"],
  ["OAUTH.groupMap.projA=proja", "OAUTH.groupMap.projA: unknown key"],
  ["OAUTH.onlyGroups=projA", "OAUTH.onlyGroups: unknown key"],
  ["SSHKEY.dntemplat=CN=%s", "SSHKEY.dntemplat: unknown key, did you mean SSHKEY.dnTemplate?"],
  ["SSHKEY.requiredGroups=projA", "SSHKEY.requiredGroups: unknown key"],
  ["SSHKEY.validat=true", "SSHKEY.validat: unknown key"],
];

for (const [line, error] of MISSPELT) {
  Deno.test(`readAuthentication() refuses the unknown key of ${line}`, async () => {
    const oauth = [
      "OAUTH.address=https://idp/",
      'OAUTH.identityAssign="UID="+x',
      "OAUTH.acceptAnyAudience=true",
    ];
    const { errors, config } = await loadAuthentication("order=OAUTH SSHKEY", ...oauth, line);
    assert.deepEqual(errors, [`${oauth.length + 2}: ${error}`]);
    assert.equal(config, undefined);
  });
}
