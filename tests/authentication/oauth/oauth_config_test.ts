import assert from "node:assert/strict";
import { loadAuthentication } from "../../config/load_authentication.ts";

const ANY_AUDIENCE = "OAUTH.acceptAnyAudience=true";

const BAD: [what: string, lines: string[], errors: string[]][] = [
  ["OAuth without address", ["order=OAUTH", "OAUTH.identityAssign=sub", ANY_AUDIENCE], [
    "conf/c: OAUTH.address: missing, expected OAUTH.issuer, or an endpoint of the identity provider",
  ]],
  ["OAuth with an invalid address", [
    "order=OAUTH",
    "OAUTH.address=idp.example",
    "OAUTH.identityAssign=sub",
  ], [
    "2: OAUTH.address = idp.example: expected a URL that begins with https:// or http://",
  ]],
  ["an unencrypted provider", [
    "order=OAUTH",
    "OAUTH.address=http://idp/",
    "OAUTH.identityAssign=sub",
    ANY_AUDIENCE,
  ], [
    "2: OAUTH.address = http://idp/: expected https://, or OAUTH.allowPlainHttp=true to send secrets unencrypted",
  ]],
  ["introspection without client", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    ANY_AUDIENCE,
  ], [
    "4: OAUTH.validate = true: expected OAUTH.clientID too",
  ]],
  ["introspection without secret", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    ANY_AUDIENCE,
  ], ["4: OAUTH.validate = true: expected OAUTH.clientSecret too"]],
  ["a signing client without a key", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    "OAUTH.clientAuthentication=private_key_jwt",
    ANY_AUDIENCE,
  ], ["4: OAUTH.validate = true: expected OAUTH.clientKey too"]],
  ["a signing client with an invalid key", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    "OAUTH.clientAuthentication=private_key_jwt",
    "OAUTH.clientKey=conf/expr",
    ANY_AUDIENCE,
  ], [
    "7: OAUTH.clientKey = /conf/expr: it cannot be read, expected a private key, PEM without password",
  ]],
  ["a signing client with a weak key", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    "OAUTH.clientAuthentication=private_key_jwt",
    "OAUTH.clientKey=conf/weak.pem",
    ANY_AUDIENCE,
  ], [
    "7: OAUTH.clientKey = /conf/weak.pem: expected a key of P-256, P-384, P-521 or Ed25519, or of RSA with 2048 to 4096 bits",
  ]],
  ["a signing client with a missing key file", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    "OAUTH.clientAuthentication=private_key_jwt",
    "OAUTH.clientKey=none.pem",
    ANY_AUDIENCE,
  ], [
    "7: OAUTH.clientKey = /none.pem: there is no such file, expected a private key, PEM without password",
  ]],
  ["an unknown client authentication", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.clientAuthentication=basic",
    ANY_AUDIENCE,
  ], [
    "4: OAUTH.clientAuthentication = basic: expected one of client_secret_post, client_secret_basic, private_key_jwt",
  ]],
  ["a missing expression file", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=@none",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.identityAssign = @none: cannot read /none: there is no such file",
  ]],
  ["an issuer without a required audience or client", ["order=OAUTH", "OAUTH.issuer=https://idp/"], [
    "2: OAUTH.issuer = https://idp/: tokens that others got from this provider log in here, expected " +
    "OAUTH.requiredAudience, OAUTH.requiredClient, or OAUTH.acceptAnyAudience=true if that is meant",
  ]],
  ["both a required audience and any audience", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.requiredAudience=uftp",
    ANY_AUDIENCE,
  ], [
    "4: OAUTH.acceptAnyAudience = true: expected either this or requiredAudience and requiredClient",
  ]],
  ["an issuer with a query", ["order=OAUTH", "OAUTH.issuer=https://idp/?a=b", ANY_AUDIENCE], [
    "2: OAUTH.issuer = https://idp/?a=b: expected a URL without query",
  ]],
  ["an unencrypted issuer and unencrypted keys", [
    "order=OAUTH",
    "OAUTH.issuer=http://idp/",
    "OAUTH.jwksUri=http://idp/keys",
    ANY_AUDIENCE,
  ], [
    "2: OAUTH.issuer = http://idp/: expected https://, or OAUTH.allowPlainHttp=true to send secrets unencrypted",
    "3: OAUTH.jwksUri = http://idp/keys: expected https://, or OAUTH.allowPlainHttp=true to send secrets unencrypted",
  ]],
  ["keys that need an issuer, without one", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.jwksUri=https://idp/keys",
    "OAUTH.askAlways=true",
    ANY_AUDIENCE,
  ], [
    "4: OAUTH.jwksUri: expected OAUTH.issuer too",
    "5: OAUTH.askAlways: expected OAUTH.issuer too",
  ]],
  ["two ways to name users", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.identityAssign=sub",
    "OAUTH.identityTemplate=CN=%sub%",
    ANY_AUDIENCE,
  ], ["4: OAUTH.identityTemplate = CN=%sub%: expected either this or OAUTH.identityAssign"]],
  ["a template without its closing percent sign", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.identityTemplate=CN=%sub",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.identityTemplate = CN=%sub: expected claims between two percent signs, such as %sub%",
  ]],
  ["a template without a claim", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.identityTemplate=CN=ann",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.identityTemplate = CN=ann: expected a claim such as %sub%, or all users would have one name",
  ]],
  ["a template that gives no distinguished name", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.identityTemplate=%sub%",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.identityTemplate = %sub%: expected a distinguished name: Not a distinguished name: expected an attribute such as CN= (at character 1)",
  ]],
  ["two ways to assign groups", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.groupsAssign=groups",
    "OAUTH.groupsClaim=groups",
    ANY_AUDIENCE,
  ], ["4: OAUTH.groupsClaim: expected either this or OAUTH.groupsAssign"]],
  ["rules for groups without groupsClaim", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.groupsPrefix=/hpc/",
    "OAUTH.requiredGroups=a",
    "OAUTH.groupsMap.a=b",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.groupsPrefix: expected OAUTH.groupsClaim too",
    "4: OAUTH.requiredGroups: expected OAUTH.groupsClaim too",
    "5: OAUTH.groupsMap.a: expected OAUTH.groupsClaim too",
  ]],
  ["invalid groups", [
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.groupsClaim=groups",
    "OAUTH.groupsMap./hpc/a=hpc/a",
    "OAUTH.groupsMap./hpc/b=root",
    "OAUTH.groupsMap./hpc/c=c:d",
    ANY_AUDIENCE,
  ], [
    "4: OAUTH.groupsMap./hpc/a = hpc/a: expected the name of a Unix group, or several with : between",
    "5: OAUTH.groupsMap./hpc/b = root: expected the name of a Unix group, or several with : between",
  ]],
];

for (const [what, lines, errors] of BAD) {
  Deno.test(`OAuth's configuration is refused with ${what}`, async () => {
    const loaded = await loadAuthentication(...lines);
    assert.deepEqual(loaded.errors.toSorted(), errors.toSorted());
    assert.deepEqual(loaded.warnings, []);
    assert.equal(loaded.config, undefined);
  });
}

const DOUBTFUL: [what: string, lines: string[], warnings: string[]][] = [
  ["the deprecated way to name users", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.dnTemplate=CN=%sub",
    ANY_AUDIENCE,
  ], [
    "3: OAUTH.dnTemplate = CN=%sub: deprecated, expected OAUTH.identityAssign",
  ]],
  ["an address without a required audience or client", [
    "order=OAUTH",
    "OAUTH.address=https://idp/",
    "OAUTH.identityAssign=sub",
  ], [
    "2: OAUTH.address: tokens that others got from this provider log in here, expected " +
    "OAUTH.requiredAudience, OAUTH.requiredClient, or OAUTH.acceptAnyAudience=true if that is meant",
  ]],
  ["a required client where the userinfo endpoint may not report the client of opaque tokens", [
    "order=OAUTH",
    "OAUTH.address=https://idp/userinfo",
    "OAUTH.identityAssign=sub",
    "OAUTH.requiredClient=portal",
  ], [
    "4: OAUTH.requiredClient: opaque tokens are refused with it, unless the userinfo endpoint says for whom they are, " +
    "expected OAUTH.opaqueTokens=false where tokens are signed, else OAUTH.validate=true",
  ]],
];

for (const [what, lines, warnings] of DOUBTFUL) {
  Deno.test(`OAuth's configuration warns of ${what}`, async () => {
    const loaded = await loadAuthentication(...lines);
    assert.deepEqual(loaded.errors, []);
    assert.deepEqual(loaded.warnings, warnings);
    assert.ok(loaded.config);
  });
}

Deno.test("OAuth's configuration may name a signing client", async () => {
  const { errors, warnings } = await loadAuthentication(
    "order=OAUTH",
    "OAUTH.issuer=https://idp/",
    "OAUTH.validate=true",
    "OAUTH.clientID=uftp",
    "OAUTH.clientAuthentication=private_key_jwt",
    "OAUTH.clientKey=conf/good.pem",
    "OAUTH.requiredAudience=uftp",
  );
  assert.deepEqual([errors, warnings], [[], []]);
});
