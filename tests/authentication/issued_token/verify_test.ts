import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, createSecretKey, X509Certificate } from "node:crypto";
import { issuerSources, sourceOf, trustedIssuerOf } from "../../../src/authentication/issued_token/issuer.ts";
import { issuedToken, type IssuedTokenOptions } from "../../../src/authentication/issued_token/verify.ts";
import type { AuthenticationResult } from "../../../src/authentication/authenticator.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import { type AccountStatus, accountStatusOf } from "../../../src/authentication/account_status.ts";
import { ANONYMOUS_DN, decidedRole, type Identity } from "../../../src/model/identity.ts";
import { createAuthority } from "../../pki/authority.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { testAuthenticator } from "../conformance.ts";
import { basic, bearer, sshLegacy } from "../sample_credentials.ts";
import { signToken, type TokenParts } from "../sign_token.ts";

const NOW = 1_800_000_000;
const SERVER = "CN=auth.site-a.example,O=Site-A,C=DE";
const OTHER = "CN=other.site-b.example,O=Site-B,C=DE";
const SECRET = "0123456789abcdef0123456789abcdef";
const AUTHORITY = createAuthority({ subject: "CN=Test CA" });
const OWN = AUTHORITY.issue({ subject: SERVER, keyType: "rsa-2048" });
const FRIEND = AUTHORITY.issue({ subject: OTHER });
const STRANGER = AUTHORITY.issue({ subject: OTHER });
const KEYS = {
  own: createPrivateKey(OWN.key),
  friend: createPrivateKey(FRIEND.key),
  stranger: createPrivateKey(STRANGER.key),
  secret: createSecretKey(Buffer.from(SECRET)),
};
const ANN = "CN=Ann Example,O=Site-A,C=DE";

const DEFAULTS: IssuedTokenOptions = {
  tls: () => ({ ...OWN, anchors: [] }),
  trustedIssuers: [FRIEND.certificate],
  accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
  clock: () => NOW * 1000,
  log: SILENT,
};

const CLAIMS = { sub: ANN, iss: SERVER, iat: NOW, exp: NOW + 300, etd: "true" };

function own(claims: Readonly<Record<string, unknown>> = {}, parts: Partial<TokenParts> = {}): string {
  return signToken({ header: { alg: "RS256" }, claims: { ...CLAIMS, ...claims }, key: KEYS.own, ...parts });
}

function friends(claims: Readonly<Record<string, unknown>> = {}, parts: Partial<TokenParts> = {}): string {
  return own({ iss: OTHER, ...claims }, { header: { alg: "ES256" }, key: KEYS.friend, ...parts });
}

function hmac(claims: Readonly<Record<string, unknown>> = {}, alg = "HS256"): string {
  return own(claims, { header: { alg }, key: KEYS.secret });
}

function ask(token: string, options: Partial<IssuedTokenOptions> = {}): Promise<AuthenticationResult> {
  return issuedToken({ ...DEFAULTS, ...options }).authenticate(bearer(token), new AbortController().signal);
}

async function accepted(token: string, options: Partial<IssuedTokenOptions> = {}): Promise<Identity> {
  const result = await ask(token, options);
  assert.equal(result.kind, "accepted", result.kind === "refused" ? result.reason : result.kind);
  if (result.kind !== "accepted") throw new TypeError("unreachable");
  return result.identity;
}

testAuthenticator({
  name: "issuedToken()",
  // The authenticator has a fixed name, since no configuration names it.
  create: () => Object.defineProperty(issuedToken(DEFAULTS), "name", { value: "SUBJECT" }),
  method: "ETD",
  good: bearer(own()),
  bad: {
    "an expired token": bearer(own({ exp: NOW - 61 })),
    "a token of a stranger": bearer(friends({}, { key: KEYS.stranger })),
    "a token without sub": bearer(own({ sub: undefined })),
  },
  foreign: {
    "a password": basic("ann", "sesame"),
    "an SSH token": bearer(own({ iss: ANN, etd: "false" })),
    "an opaque token": bearer("abc"),
    "a legacy token": sshLegacy("ann"),
  },
});

Deno.test("issuedToken() honours account, servers and limits in a token of our own", async () => {
  const claims = {
    via: "SSHKEY",
    login: "ann",
    uid: "ann",
    role: "user",
    groups: ["hpc"],
    highestRole: "user",
    uidServers: ["HPC", "ARCHIVE"],
    aud: SERVER,
    preferences: "group:a",
    renewable: "true",
    jti: "4",
    since: NOW * 1000 - 1,
    root: "1",
    line: [["2", NOW], ["3", NOW + 1]],
  };
  const identity = await accepted(own({ ...claims, renewableUntil: NOW + 9000 }));
  const present = JSON.parse(JSON.stringify(identity)); // without undefined members
  assert.deepEqual(present, {
    dn: ANN,
    method: "ETD",
    via: "ETD",
    login: "ann",
    uid: "ann",
    role: "user",
    groups: ["hpc"],
    uidServers: ["HPC", "ARCHIVE"],
    issuedToken: {
      issuer: SERVER,
      identifiedBy: "SSHKEY",
      highestRole: "user",
      renewable: true,
      limitedTo: SERVER,
      preferences: "group:a",
      renewableUntil: NOW + 9000,
      family: {
        id: "4",
        expires: NOW + 300,
        since: NOW * 1000 - 1,
        root: "1",
        line: [{ id: "2", expires: NOW }, { id: "3", expires: NOW + 1 }],
      },
    },
  });
});

Deno.test("issuedToken() refuses a token of our own whose claims about its family are missing or malformed", async () => {
  const good = { jti: "2", since: NOW * 1000, root: "1", line: [["1", NOW]] };
  assert.equal((await ask(own(good))).kind, "accepted");
  const long = Array.from({ length: 17 }, (_, i) => [String(i), NOW]);
  for (
    const bad of [
      { jti: 2 },
      { jti: "" },
      { since: undefined },
      { since: "1" },
      { root: 1 },
      { line: "1" },
      { line: [["1"]] },
      { line: [["1", "2"]] },
      { line: [["1", NOW, 1]] },
      { line: [[1, NOW]] },
      { line: ["1", NOW] },
      { line: null },
      { line: long },
    ]
  ) {
    assert.equal((await ask(own({ ...good, ...bad }))).kind, "refused", JSON.stringify(bad));
  }
});

Deno.test("issuedToken() ignores account, role and renewal period in a token of another issuer", async () => {
  const claims = {
    uid: "ann",
    uidServers: ["HPC"],
    renewable: true,
    renewableUntil: NOW + 10 ** 9,
    preferences: "uid:bob",
    role: "admin",
    groups: ["wheel"],
    login: "bob",
    via: "PASSWORD",
    highestRole: "admin",
  };
  for (
    const [signer, identity] of [
      [trustedIssuerOf(FRIEND.certificate), await accepted(friends(claims))],
      [SECRET, await accepted(hmac({ ...claims, iss: OTHER }), { hmacSecret: SECRET })],
      [SECRET, await accepted(hmac(claims), { hmacSecret: SECRET })],
    ] as const
  ) {
    assert.equal(identity.uid, undefined);
    assert.equal(identity.uidServers, undefined);
    assert.equal(identity.role, undefined);
    assert.equal(identity.groups, undefined);
    assert.equal(identity.login, undefined);
    assert.equal(identity.issuedToken?.identifiedBy, sourceOf(signer));
    assert.equal(identity.issuedToken?.highestRole, undefined);
    assert.equal(identity.issuedToken?.renewable, true);
    assert.equal(identity.issuedToken?.renewableUntil, NOW + 300);
    assert.equal(identity.issuedToken?.preferences, "uid:bob");
  }
});

Deno.test("issuerSources() report users of a key that is no longer trusted as gone, and users of old tokens when no key is left", async () => {
  const statuses = (...[trusted, secret]: Parameters<typeof issuerSources>) =>
    Promise.all(
      [sourceOf(trustedIssuerOf(FRIEND.certificate)), sourceOf(SECRET), "ETD", undefined].map(async (via) => {
        const user = { dn: ANN, ...(via !== undefined && { via }) };
        return (await accountStatusOf(issuerSources(trusted, secret), user, new AbortController().signal))
          .kind;
      }),
    );
  const here = "cannot tell";
  assert.deepEqual(await statuses([FRIEND.certificate], SECRET), [here, here, here, "gone"]);
  assert.deepEqual(await statuses([FRIEND.certificate]), [here, "gone", here, "gone"]);
  assert.deepEqual(await statuses([], SECRET), ["gone", here, here, "gone"]);
  assert.deepEqual(await statuses([]), ["gone", "gone", "gone", "gone"]);
  assert.doesNotMatch(sourceOf(SECRET), new RegExp(SECRET));
});

Deno.test("issuedToken() gives the account in an old token without a role claim no role, and warns once", async () => {
  const lines: string[] = [];
  const method = issuedToken({ ...DEFAULTS, log: createLogger((line) => lines.push(line)) });
  for (let i = 0; i < 3; i++) {
    const result = await method.authenticate(bearer(own({ uid: "ann" })), new AbortController().signal);
    assert(result.kind === "accepted");
    assert.equal(result.identity.uid, "ann");
    assert.equal(result.identity.role, undefined);
    assert.equal(decidedRole(result.identity), undefined);
    assert.equal(result.identity.issuedToken?.identifiedBy, undefined);
  }
  assert.equal(lines.filter((line) => line.includes("token of an earlier version")).length, 1);
});

Deno.test("issuedToken() asks the source that named the user, and follows its answer", async () => {
  const claims = { via: "SSHKEY", login: "ann", uid: "ann", role: "user", uidServers: ["HPC", "TWO"] };
  const asked: unknown[] = [];
  const says = (accountStatus: AccountStatus): Partial<IssuedTokenOptions> => ({
    accountStatus: (user) => {
      asked.push(user);
      return Promise.resolve(accountStatus);
    },
  });
  assert.deepEqual((await accepted(own(claims), says({ kind: "known" }))).uidServers, ["HPC", "TWO"]);
  const user = { dn: ANN, via: "SSHKEY", login: "ann", uid: "ann" };
  assert.deepEqual(asked, [{ ...user, credential: undefined, proved: NOW, authTime: undefined }]);
  const less = says({ kind: "known", servers: ["TWO", "MORE"] });
  assert.deepEqual((await accepted(own(claims), less)).uidServers, ["TWO"]);
  assert.deepEqual((await accepted(own({ ...claims, uidServers: undefined }), less)).uidServers, [
    "TWO",
    "MORE",
  ]);
  const gone = await ask(own(claims), says({ kind: "gone" }));
  assertAlike(gone, { kind: "refused", reason: "its user, or who requested it, is gone" });
  await assert.rejects(
    ask(own(claims), { accountStatus: () => Promise.reject(new Error("the source is down")) }),
    /the source is down/,
  );
});

Deno.test("issuedToken() checks names from another service by the rules for providers", async () => {
  assert.equal((await ask(friends({ sub: "CN=\uFF21nn" }))).kind, "refused");
});

Deno.test("issuedToken() compares issuers as names, not as text", async () => {
  assert.equal(
    (await accepted(own({ iss: "cn=AUTH.site-a.example, o=site-a, c=de", uid: "ann" }))).uid,
    "ann",
  );
  await accepted(friends({ iss: "CN=Other.Site-B.example, O=Site-B, C=DE" }));
});

Deno.test("issuedToken() accepts etd as text in any case, or as a boolean", async () => {
  for (const etd of ["true", "TRUE", true]) await accepted(own({ etd }));
});

const publicText = createPublicKey(KEYS.own).export({ type: "spki", format: "pem" }).toString();
const certificateText = OWN.certificate;

const BAD: [string, string, RegExp][] = [
  ["alg none", own({}, { header: { alg: "none" } }), /base64url/],
  [
    "HS256 with the public key",
    own({}, { header: { alg: "HS256" }, key: createSecretKey(Buffer.from(publicText)) }),
    /secret/,
  ],
  [
    "HS256 with the certificate",
    own({}, { header: { alg: "HS256" }, key: createSecretKey(Buffer.from(certificateText)) }),
    /secret/,
  ],
  ["HS256 while no secret is set", hmac(), /secret/],
  ["RS512 with a key for RS256", own({}, { header: { alg: "RS512" } }), /issuer/],
  ["PS256 with a key for RS256", own({}, { header: { alg: "PS256" } }), /issuer/],
  ["ES256 said, RS256 signed", own({}, { header: { alg: "ES256" }, signWith: "RS256" }), /issuer/],
  ["ES384 with a P-256 key", friends({}, { header: { alg: "ES384" }, signWith: "ES256" }), /issuer/],
  ["jwk in the header", own({}, { header: { alg: "RS256", jwk: {} }, signWith: "RS256" }), /more than/],
  [
    "jku in the header",
    own({}, { header: { alg: "RS256", jku: "https://x" }, signWith: "RS256" }),
    /more than/,
  ],
  [
    "crit in the header",
    own({}, { header: { alg: "RS256", crit: ["exp"] }, signWith: "RS256" }),
    /more than/,
  ],
  ["our name, a friend's key", own({}, { header: { alg: "ES256" }, key: KEYS.friend }), /issuer/],
  ["a friend's name, our key", own({ iss: OTHER }), /issuer/],
  ["a friend's name, another key", friends({}, { key: KEYS.stranger }), /issuer/],
  ["an unknown issuer", own({ iss: "CN=unknown" }), /issuer/],
  ["an issuer that is no DN", own({ iss: "https://idp.example" }), /iss is not a DN/],
  ["no issuer", own({ iss: undefined }), /iss/],
  ["sub that is no DN", own({ sub: "ann" }), /sub/],
  ["sub that is empty", own({ sub: "" }), /sub/],
  ["sub that is the server", own({ sub: SERVER.toLowerCase() }), /sub/],
  ["sub that is the server, by a friend", friends({ sub: SERVER }), /sub/],
  ["sub that is the anonymous caller", own({ sub: ANONYMOUS_DN }), /sub/],
  ["no exp", own({ exp: undefined }), /expiry/],
  ["exp as text", own({ exp: "1900000000" }), /expiry/],
  ["an expired one", own({ exp: NOW - 60 }), /expired/],
  ["one not valid yet", own({ nbf: NOW + 61 }), /not valid yet/],
  ["one for another server", own({ aud: OTHER }), /another server/],
  ["one for a friend's server", friends({ aud: OTHER }), /another server/],
  ["uid that is root", own({ uid: "root" }), /uid/],
  ["uid that is no account", own({ uid: "a\nb" }), /uid/],
  ["uid as a number", own({ uid: 0 }), /uid/],
  ["a group that is root", own({ groups: ["root"] }), /groups/],
  ["root in a list of groups", own({ groups: ["hpc:root"] }), /groups/],
  ["a group that is empty", own({ groups: [""] }), /groups/],
  ["groups as text", own({ groups: "hpc" }), /groups/],
  ["a group that is no text", own({ groups: [7] }), /groups/],
  ["role as a list", own({ role: ["admin"] }), /role/],
  ["login as a number", own({ login: 7 }), /login/],
  ["uidServers as text", own({ uid: "ann", uidServers: "HPC" }), /uidServers/],
  ["restrictions that it does not know", own({ aud: SERVER, restrictions: { until: 1 } }), /restrictions/],
  ["restrictions that cannot be read", own({ aud: SERVER, restrictions: "read" }), /restrictions/],
  ["preferences as a list", own({ preferences: ["a"] }), /preferences/],
  [
    "claims given twice",
    own({}, { claims: `{"sub":"${ANN}","sub":"CN=x","iss":"${SERVER}","exp":1900000000,"etd":"true"}` }),
    /no JSON object/,
  ],
  [
    "etd given twice",
    own({}, { claims: `{"sub":"${ANN}","iss":"${SERVER}","exp":1900000000,"etd":"false","etd":"true"}` }),
    /no JSON object/,
  ],
  ["more than 8 KiB", own({ pad: "x".repeat(8000) }), /too long/],
  ["a cut signature", own().replace(/[^.]*$/, (signature) => signature.slice(0, 40)), /issuer/],
  ["no signature", own().replace(/[^.]*$/, ""), /base64url/],
];

Deno.test(`issuedToken() refuses each of ${BAD.length} kinds of bad token, and says why`, async () => {
  for (const [what, token, reason] of BAD) {
    const result = await ask(token);
    assert.match(result.kind === "refused" ? result.reason : result.kind, reason, what);
  }
});

Deno.test("issuedToken() refuses a token that was routed to it without being marked as issued", async () => {
  for (const etd of [undefined, "false", false, 1]) {
    const shown = bearer(own({ etd }));
    assert(shown.authorization.kind === "bearer");
    const credentials = { ...shown, authorization: { ...shown.authorization, route: "issued" as const } };
    const result = await issuedToken(DEFAULTS).authenticate(credentials, new AbortController().signal);
    assertAlike(result, { kind: "refused", reason: "not an issued token" }, String(etd));
  }
});

Deno.test("issuedToken() accepts HMAC tokens with the secret, HS256 only, and rejects a short secret", async () => {
  await accepted(hmac(), { hmacSecret: SECRET });
  await accepted(own(), { hmacSecret: SECRET });
  for (const alg of ["HS384", "HS512"]) {
    assert.equal((await ask(hmac({}, alg), { hmacSecret: SECRET })).kind, "refused");
  }
  assert.equal((await ask(hmac(), { hmacSecret: `${SECRET}!` })).kind, "refused");
  assert.throws(() => issuedToken({ ...DEFAULTS, hmacSecret: SECRET.slice(1) }), RangeError);
});

Deno.test("issuedToken() trusts an issuer only while its certificate is valid", async () => {
  const from = new Date(NOW * 1000 - 1000);
  const until = new Date(NOW * 1000 + 1000);
  const issuer = AUTHORITY.issue({ subject: OTHER, notBefore: from, notAfter: until });
  const token = friends({ exp: NOW + 9000 }, { key: createPrivateKey(issuer.key) });
  let now = NOW * 1000;
  const lines: string[] = [];
  const options = {
    ...DEFAULTS,
    trustedIssuers: [issuer.certificate],
    clock: () => now,
    log: createLogger((line) => lines.push(line)),
  };
  const check = issuedToken(options);
  const kind = async () => (await check.authenticate(bearer(token), new AbortController().signal)).kind;
  assert.equal(await kind(), "accepted");
  now += 2000;
  assert.equal(await kind(), "refused");
  now -= 4000;
  assert.equal(await kind(), "refused");
  assert.deepEqual(lines, []);
  issuedToken(options);
  assert.match(lines.join(), /trusted token issuer is out of date issuer="?CN=other/);
});

Deno.test("issuedToken() tries every certificate of an issuer, so that keys can be changed", async () => {
  const trustedIssuers = [STRANGER.certificate, FRIEND.certificate];
  await accepted(friends(), { trustedIssuers });
  await accepted(friends({}, { key: KEYS.stranger }), { trustedIssuers });
});

Deno.test("issuedToken() fails to start with a trusted issuer that cannot be used", () => {
  const text = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  assert.throws(() => issuedToken({ ...DEFAULTS, trustedIssuers: [text] }), TypeError);
  assert.throws(
    () => issuedToken({ ...DEFAULTS, trustedIssuers: [new X509Certificate(FRIEND.certificate).subject] }),
    TypeError,
  );
});

Deno.test("issuedToken() accepts a token that is bound to an address only from there", async () => {
  const token = own({ jti: "1", since: NOW * 1000, aud: SERVER, restrictions: { address: "192.0.2.0/28" } });
  const from = async (clientAddress: string) => {
    const credentials = { ...bearer(token), clientAddress };
    return (await issuedToken(DEFAULTS).authenticate(credentials, new AbortController().signal)).kind;
  };
  assert.equal(await from("192.0.2.15"), "accepted");
  for (const elsewhere of ["192.0.2.16", "2001:db8::1", ""]) assert.equal(await from(elsewhere), "refused");
});

Deno.test("issuedToken() asks the source about the credential and the time of the login", async () => {
  const asked: unknown[] = [];
  const accountStatus: IssuedTokenOptions["accountStatus"] = (user) => {
    asked.push([user.credential, user.proved]);
    return Promise.resolve({ kind: "cannot tell" });
  };
  const identity = await accepted(own({ via: "OAUTH", cred: "fingerprint", proved: NOW - 60 }), {
    accountStatus,
  });
  assert.deepEqual([identity.credential, identity.proved], ["fingerprint", NOW - 60]);
  assert.deepEqual(asked, [["fingerprint", NOW - 60]]);
  for (const bad of [{ cred: 1 }, { cred: "" }, { proved: "now" }]) {
    assert.equal((await ask(own(bad))).kind, "refused", JSON.stringify(bad));
  }
});
