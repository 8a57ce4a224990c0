import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac, sign } from "node:crypto";
import { OAuth } from "../../../src/authentication/oauth/oauth.ts";
import type { OAuthConfig } from "../../../src/authentication/oauth/oauth_config.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner, encode, type TokenSigner } from "../../identity_provider/token_issuer.ts";
import { testAuthenticator } from "../conformance.ts";
import { alsoClosing, httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { bearer } from "../sample_credentials.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const NOW = Date.UTC(2027, 0, 15, 8);
const SECONDS = NOW / 1000;

const [RSA, EC, ED, STRANGER] = [
  createSigner("RS256", "rsa"),
  createSigner("ES256", "ec"),
  createSigner("EdDSA", "ed"),
  createSigner("ES256", "ec"),
];
const [WEAK, ENCRYPTING, PUBLISHED, WITHDRAWN] = [
  createSigner("RS256", "weak", { bits: 1024 }),
  createSigner("RS256", "enc"),
  createSigner("ES256", "published"),
  createSigner("ES256", "withdrawn"),
];
const SECRET = { kty: "oct", kid: "oct", k: encode("a secret of thirty-two characters") };

/** Returns all claims of RFC 9068, 2.2. `ACCEPTED` has the claims of Keycloak, Entra and others. */
function claims(issuer: string): Readonly<Record<string, unknown>> {
  return {
    iss: issuer,
    sub: "ann",
    aud: "uftp",
    exp: SECONDS + 300,
    nbf: SECONDS - 1,
    iat: SECONDS - 1,
    jti: "1",
    client_id: "portal",
    scope: "openid transfer",
  };
}

interface Setting {
  readonly provider: OidcProvider;
  readonly subject: OAuth;
  /** Returns the reason of a refusal, or `accepted`. */
  ask(token: string): Promise<string>;
}

async function withIssuer(
  config: Partial<OAuthConfig>,
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  await using provider = await startOidcProvider(PROVIDER_TLS);
  provider.keys.push(RSA.jwk, EC.jwk, ED.jwk, WEAK.jwk, { ...ENCRYPTING.jwk, use: "enc" }, SECRET, {
    ...PUBLISHED.jwk,
    d: "AAAA",
  });
  const http = httpsClient();
  let elapsed = 0;
  const subject = new OAuth({
    ...OAUTH_CONFIG,
    issuer: provider.issuer,
    address: undefined,
    opaqueTokens: false,
    identityTemplate: "CN=%sub%,O=test",
    requiredAudience: ["uftp"],
    ...config,
  }, { http, clock: () => NOW, elapsed: () => elapsed, log: SILENT });
  try {
    await subject.warmUp();
    await run({
      provider,
      subject,
      async ask(token) {
        elapsed += 31_000; // after the pause between two fetches of keys
        const result = await subject.authenticate(bearer(token), new AbortController().signal);
        return "reason" in result ? result.reason ?? "skipped" : result.kind;
      },
    });
  } finally {
    subject.close();
    http.close();
  }
}

const AT = { typ: "at+jwt" };

type Make = (issuer: string) => string;
const by =
  (signer: TokenSigner, change: Readonly<Record<string, unknown>>, header: object = AT): Make => (issuer) =>
    signer.sign({ ...claims(issuer), ...change }, { ...header });
/** Makes a token without some claims. */
const without = (...names: string[]): Make => (issuer) =>
  EC.sign(Object.fromEntries(Object.entries(claims(issuer)).filter(([name]) => !names.includes(name))), AT);
const hmac = (secret: string | Uint8Array, alg = "HS256", kid = "rsa"): Make => (issuer) => {
  const content = `${encode(JSON.stringify({ alg, kid, ...AT }))}.${encode(JSON.stringify(claims(issuer)))}`;
  return `${content}.${
    createHmac(alg === "HS512" ? "sha512" : "sha256", secret).update(content).digest("base64url")
  }`;
};
/** Makes a good token and changes its parts. */
const changed = (change: (parts: string[], issuer: string) => string[]): Make => (issuer) =>
  change(EC.sign(claims(issuer), AT).split("."), issuer).join(".");
/** Makes a token with the type `JWT`, which does not state the purpose of the token. */
const untyped = (change: Readonly<Record<string, unknown>>): Make => by(EC, change, { typ: "JWT" });
const bare = (change: Readonly<Record<string, unknown>>): Make => (issuer) => {
  const { scope: _scope, client_id: _client, ...rest } = claims(issuer);
  return EC.sign({ ...rest, ...change }, { typ: "JWT" });
};

const REFUSED: readonly [rule: string, what: string, make: Make][] = [
  // RFC 8725: JSON Web Token best current practices.
  [
    "RFC 8725, 2.1",
    "without signature",
    (issuer) => `${encode('{"alg":"none"}')}.${encode(JSON.stringify(claims(issuer)))}.`,
  ],
  [
    "RFC 8725, 2.1",
    "with alg none and a signature",
    changed(([, body = "", s = ""]) => [encode('{"alg":"none","typ":"at+jwt"}'), body, s]),
  ],
  ["RFC 8725, 2.1", "with alg nOnE", changed(([, body = "", s = ""]) => [encode('{"alg":"nOnE"}'), body, s])],
  [
    "RFC 8725, 2.1",
    "by HS256 with the public RSA key as secret",
    hmac(RSA.publicKey.export({ type: "spki", format: "pem" })),
  ],
  [
    "RFC 8725, 2.1",
    "by HS256 with the key's DER as secret",
    hmac(RSA.publicKey.export({ type: "spki", format: "der" })),
  ],
  ["RFC 8725, 2.1", "by HS256 with the JWK as secret", hmac(JSON.stringify(EC.jwk), "HS256", "ec")],
  [
    "RFC 8725, 2.1",
    "by HS512 with a modulus as secret",
    hmac(Buffer.from(RSA.jwk.n ?? "", "base64url"), "HS512"),
  ],
  [
    "RFC 8725, 3.5",
    "by a shared secret from the key set",
    hmac(Buffer.from(SECRET.k, "base64url"), "HS256", "oct"),
  ],
  [
    "RFC 8725, 3.1",
    "by ES256K",
    changed(([, body = "", s = ""]) => [encode('{"alg":"ES256K","kid":"ec"}'), body, s]),
  ],
  ["RFC 8725, 3.1", "with the algorithm of another key", by(EC, {}, { ...AT, alg: "RS256" })],
  ["RFC 8725, 3.1", "with an algorithm other than the key's own", by(RSA, {}, { ...AT, alg: "RS384" })],
  ["RFC 8725, 3.1", "by PS256 with a key for RS256", by(RSA, {}, { ...AT, alg: "PS256" })],
  ["RFC 8725, 3.1", "with the kid of another key", by(EC, {}, { ...AT, kid: "ed" })],
  [
    "RFC 8725, 3.1",
    "without algorithm",
    (issuer) => EC.signRaw('{"kid":"ec"}', JSON.stringify(claims(issuer))),
  ],
  ["RFC 8725, 3.1", "with a list of algorithms", by(EC, {}, { ...AT, alg: ["ES256"] })],
  ["RFC 8725, 3.2", "by a key of 1,024 bits", by(WEAK, {})],
  ["RFC 8725, 3.2", "by a key for encryption", by(ENCRYPTING, {})],
  ["RFC 8725, 3.5", "by a key whose secret part is published", by(PUBLISHED, {})],
  ["RFC 8725, 3.3", "by a stranger, with the kid of the issuer's key", by(STRANGER, {})],
  ["RFC 8725, 3.3", "by a stranger, without kid", by(STRANGER, {}, { ...AT, kid: undefined })],
  ["RFC 8725, 3.3", "by a withdrawn key", by(WITHDRAWN, {})],
  [
    "RFC 8725, 3.3",
    "with claims that differ from the signed ones",
    changed(([h = "", , s = ""], issuer) => [
      h,
      encode(JSON.stringify({ ...claims(issuer), sub: "root" })),
      s,
    ]),
  ],
  [
    "RFC 8725, 3.3",
    "with a header that differs from the signed one",
    changed(([, b = "", s = ""]) => [encode('{"alg":"ES256","kid":"ec","x":1}'), b, s]),
  ],
  ["RFC 8725, 3.3", "with half a signature", changed(([h = "", b = "", s = ""]) => [h, b, s.slice(0, 43)])],
  ["RFC 8725, 3.3", "with a longer signature", changed(([h = "", b = "", s = ""]) => [h, b, `${s}AAAA`])],
  ["RFC 8725, 3.3", "with an empty signature", changed(([h = "", b = ""]) => [h, b, ""])],
  [
    "RFC 8725, 3.3",
    "with a signature of zeros",
    changed(([h = "", b = ""]) => [h, b, encode(new Uint8Array(64))]),
  ],
  [
    "RFC 8725, 3.3",
    "with a signature in DER",
    changed(([h = "", b = ""]) => [
      h,
      b,
      encode(sign("sha256", Buffer.from(`${h}.${b}`), EC.privateKey)),
    ]),
  ],
  ["RFC 8725, 3.3", "nested in another token", (issuer) =>
    EC.signRaw(
      '{"alg":"ES256","kid":"ec","typ":"at+jwt","cty":"JWT"}',
      JSON.stringify(EC.sign(claims(issuer), AT)),
    )],
  ["RFC 8725, 3.6", "compressed", by(EC, {}, { ...AT, zip: "DEF" })],
  ["RFC 8725, 3.3", "encrypted, in five parts", changed(([h = "", b = "", s = ""]) => [h, s, s, b, s])],
  ["RFC 7515, 4.1.11", "with a critical member", by(EC, {}, { ...AT, crit: ["exp"], exp: SECONDS + 10 })],
  ["RFC 7797, 3", "with unencoded claims", by(EC, {}, { ...AT, b64: false, crit: ["b64"] })],
  ["RFC 8725, 3.10", "with its own jwk", by(STRANGER, {}, { ...AT, kid: undefined, jwk: STRANGER.jwk })],
  [
    "RFC 8725, 3.10",
    "with the URL of other keys (jku)",
    by(STRANGER, {}, { ...AT, kid: "x", jku: "https://evil.example/keys" }),
  ],
  [
    "RFC 8725, 3.10",
    "with the URL of a certificate (x5u)",
    by(STRANGER, {}, { ...AT, x5u: "https://evil.example/c.pem" }),
  ],
  ["RFC 8725, 3.10", "with a certificate (x5c)", by(STRANGER, {}, { ...AT, x5c: ["MIIB"] })],
  ["RFC 8725, 3.10", "with a path as kid", by(STRANGER, {}, { ...AT, kid: "../../dev/null" })],
  ["RFC 8725, 3.10", "with a number as kid", by(EC, {}, { ...AT, kid: 1 })],
  ["RFC 8725, 3.10", "with a very long kid", by(EC, {}, { ...AT, kid: "k".repeat(600) })],
  ["RFC 8725, 3.10", "with an inherited property name as kid", by(STRANGER, {}, { ...AT, kid: "__proto__" })],
  [
    "RFC 8725, 2.4",
    "with an algorithm given twice",
    (issuer) => EC.signRaw('{"alg":"none","alg":"ES256","kid":"ec"}', JSON.stringify(claims(issuer))),
  ],
  [
    "RFC 8725, 2.4",
    "with an audience given twice",
    (issuer) =>
      EC.signRaw(
        JSON.stringify({ alg: "ES256", kid: "ec", ...AT }),
        `{"aud":"other",${JSON.stringify(claims(issuer)).slice(1)}`,
      ),
  ],
  ["RFC 8725, 3.7", "not in UTF-8", (issuer) =>
    EC.signRaw(
      JSON.stringify({ alg: "ES256", kid: "ec", ...AT }),
      Buffer.from(JSON.stringify({ ...claims(issuer), sub: "ann\xff" }), "latin1"),
    )],
  ["RFC 8725, 3.7", "in UTF-16", (issuer) =>
    EC.signRaw(
      JSON.stringify({ alg: "ES256", kid: "ec", ...AT }),
      Buffer.from(JSON.stringify(claims(issuer)), "utf16le"),
    )],
  ["RFC 7515, 2", "with padding", changed(([h = "", b = "", s = ""]) => [h, b, `${s}==`])],
  [
    "RFC 7515, 2",
    "with another last character",
    changed(([h = "", b = "", s = ""]) => [h, b, `${s.slice(0, -1)}${s.endsWith("B") ? "C" : "B"}`]),
  ],
  [
    "RFC 7519, 7.2",
    "with a list as claims",
    () => EC.signRaw(JSON.stringify({ alg: "ES256", kid: "ec", ...AT }), "[]"),
  ],
  // Issuer, subject, audience.
  ["RFC 8725, 3.8", "of another issuer", by(EC, { iss: "https://evil.example" })],
  [
    "RFC 8725, 3.8",
    "of an issuer with a trailing slash",
    (issuer) => EC.sign({ ...claims(issuer), iss: `${issuer}/` }, AT),
  ],
  [
    "RFC 8725, 3.8",
    "of an issuer in capitals",
    (issuer) => EC.sign({ ...claims(issuer), iss: issuer.toUpperCase() }, AT),
  ],
  ["RFC 8725, 3.8", "with a list as issuer", (issuer) => EC.sign({ ...claims(issuer), iss: [issuer] }, AT)],
  ["RFC 9068, 2.2", "without issuer", without("iss")],
  ["RFC 8725, 3.8", "with a number as subject", by(EC, { sub: 1000 })],
  ["RFC 9068, 2.2", "without subject", without("sub")],
  ["RFC 9068, 2.2", "with an empty subject", by(EC, { sub: "" })],
  ["OIDC Core 1.0, 2", "with a subject of 256 characters", by(EC, { sub: "a".repeat(256) })],
  ["RFC 8725, 3.9", "for another audience", by(EC, { aud: "other" })],
  ["RFC 8725, 3.9", "for an audience with the same beginning", by(EC, { aud: "uftp2" })],
  ["RFC 8725, 3.9", "for our audience in capitals", by(EC, { aud: "UFTP" })],
  ["RFC 8725, 3.9", "for several other audiences", by(EC, { aud: ["a", "b"] })],
  ["RFC 9068, 4", "without audience", without("aud")],
  ["RFC 8725, 3.9", "with an empty list as audience", by(EC, { aud: [] })],
  ["RFC 8725, 3.9", "with an object as audience", by(EC, { aud: { uftp: "uftp" } })],
  ["RFC 8725, 3.9", "with a list of a string and a number as audience", by(EC, { aud: ["uftp", 1] })],
  // Times.
  ["RFC 9068, 4", "without exp", without("exp")],
  ["RFC 9068, 4", "that has expired", by(EC, { exp: SECONDS })],
  ["RFC 7519, 4.1.4", "with a word as exp", by(EC, { exp: "tomorrow" })],
  ["RFC 7519, 4.1.4", "with a string of digits as exp", by(EC, { exp: String(SECONDS + 300) })],
  ["RFC 7519, 4.1.4", "with null as exp", by(EC, { exp: null })],
  [
    "RFC 7519, 4.1.4",
    "with an infinite exp",
    (issuer) =>
      EC.signRaw(
        JSON.stringify({ alg: "ES256", kid: "ec", ...AT }),
        JSON.stringify(claims(issuer)).replace(/"exp":\d+/, '"exp":1e999'),
      ),
  ],
  ["RFC 7519, 4.1.5", "that is not valid yet", by(EC, { nbf: SECONDS + 90 })],
  ["RFC 7519, 4.1.5", "with a word as nbf", by(EC, { nbf: "now" })],
  ["RFC 7519, 4.1.6", "issued in the future", by(EC, { iat: SECONDS + 90 })],
  // Tokens of other kinds by the same issuer.
  ["RFC 9068, 4", "with the type of a logout token", by(EC, {}, { typ: "logout+jwt" })],
  ["RFC 9449, 4.2", "with the type of a proof", by(EC, {}, { typ: "dpop+jwt" })],
  ["RFC 8417, 2.3", "with the type of a security event", by(EC, {}, { typ: "application/secevent+jwt" })],
  ["RFC 8725, 3.11", "with a number as type", by(EC, {}, { typ: 1 })],
  ["RFC 8725, 3.12", "an ID token of Keycloak", untyped({ typ: "ID", azp: "portal" })],
  ["RFC 8725, 3.12", "a refresh token of Keycloak", untyped({ typ: "Refresh" })],
  ["RFC 8725, 3.12", "an offline token of Keycloak", untyped({ typ: "Offline" })],
  ["RFC 8725, 3.12", "a logout token of Keycloak", untyped({ typ: "Logout" })],
  ["RFC 8725, 3.12", "an ID token of Cognito", untyped({ token_use: "id" })],
  ["RFC 8725, 3.12", "a token with another token_type", untyped({ token_type: "refresh_token" })],
  ["RFC 8725, 3.12", "an ID token with nonce", untyped({ nonce: "n" })],
  ["RFC 8725, 3.12", "an ID token with a hash of its access token", untyped({ at_hash: "h" })],
  ["RFC 8725, 3.12", "an ID token with a hash of its code", untyped({ c_hash: "h" })],
  ["RFC 8725, 3.12", "a token that does not state its purpose", bare({})],
  [
    "RFC 8417, 2.2",
    "a security event",
    by(EC, { events: { "http://schemas.openid.net/event/backchannel-logout": {} } }),
  ],
  ["RFC 8725, 3.12", "a token with a list as type", untyped({ typ: ["Bearer"] })],
  // Bound tokens without proof of possession.
  ["RFC 9449, 7.2", "bound to a key, sent as a bearer token", by(EC, { cnf: { jkt: "A".repeat(43) } })],
  ["RFC 8705, 3", "bound to a certificate, sent without it", by(EC, { cnf: { "x5t#S256": "A".repeat(43) } })],
  ["RFC 7800, 3.2", "bound to an embedded key (jwk)", by(EC, { cnf: { jwk: EC.jwk } })],
  ["RFC 7800, 3.4", "bound to a key by kid", by(EC, { cnf: { kid: "ec" } })],
  ["RFC 7800, 3.1", "bound in an unknown way", by(EC, { cnf: { "kc-jkt-type": "DPoP" } })],
  ["RFC 9449, 6.1", "bound to a number as key", by(EC, { cnf: { jkt: 1 } })],
  ["RFC 7800, 3.1", "bound to nothing", by(EC, { cnf: {} })],
  ["RFC 7800, 3.1", "bound to a string", by(EC, { cnf: "key" })],
  ["RFC 7800, 3.1", "bound to null", by(EC, { cnf: null })],
  [
    "RFC 9449, 6.1",
    "bound to a key, and to another by kid",
    by(EC, { cnf: { jkt: "A".repeat(43), kid: "ec" } }),
  ],
];

Deno.test(`OAuth refuses ${REFUSED.length} kinds of forged, misdirected or unproven tokens, without asking the provider`, async (test) => {
  assert.ok(REFUSED.length >= 60);
  await withIssuer({}, async ({ provider, ask }) => {
    assert.equal(await ask(EC.sign(claims(provider.issuer), AT)), "accepted");
    for (const [rule, what, make] of REFUSED) {
      await test.step(`${rule}: ${what}`, async () => {
        assert.notEqual(await ask(make(provider.issuer)), "accepted");
      });
    }
    // The service sent none of these tokens to the provider: it only fetched metadata and keys.
    const paths = new Set(provider.server.seen.map(({ path }) => path));
    assert.deepEqual([...paths], ["/.well-known/openid-configuration", "/keys"]);
  });
});

Deno.test("OAuth accepts the access token of a sign-in or renewal without a claim that marks it, once it is from there", async () => {
  await withIssuer({}, async ({ provider: { issuer }, subject, ask }) => {
    const redeemed = async (token: string) => {
      const { authorization, ...rest } = bearer(token);
      assert.ok(authorization.kind === "bearer");
      const shown = { ...rest, authorization: { ...authorization, login: { sub: "ann" } } };
      return (await subject.authenticate(shown, new AbortController().signal)).kind;
    };
    for (const change of [{}, { at_hash: "h" }, { nonce: "n" }, { c_hash: "h" }]) {
      const token = bare(change)(issuer);
      assert.notEqual(await ask(token), "accepted");
      assert.equal(await redeemed(token), "accepted");
      assert.notEqual(await ask(token), "accepted", "although the other result is cached");
    }
    for (const change of [{ typ: "ID" }, { token_use: "refresh" }, { events: {} }, { aud: "other" }]) {
      assert.equal(await redeemed(bare(change)(issuer)), "refused", JSON.stringify(change));
    }
  });
});

const ACCEPTED: readonly [what: string, make: Make][] = [
  ["as in RFC 9068", by(RSA, {})],
  ["signed with an EC key", by(EC, {})],
  ["with an additional nonce", by(EC, { nonce: "1" })],
  ["signed with Ed25519", by(ED, {})],
  ["with the whole media type", by(EC, {}, { typ: "application/at+jwt" })],
  ["without kid", by(EC, {}, { ...AT, kid: undefined })],
  ["for us and others", by(EC, { aud: ["other", "uftp"] })],
  ["of Keycloak", untyped({ typ: "Bearer", azp: "portal", acr: "1", "allowed-origins": ["/*"], sid: "1" })],
  ["of an older Keycloak, with nonce", untyped({ typ: "Bearer", azp: "portal", nonce: "n" })],
  ["of Entra", bare({ scp: "access_as_user", azp: "portal", ver: "2.0", tid: "1", rh: "x", uti: "y" })],
  [
    "of an older Entra",
    bare({ scp: "access_as_user", appid: "portal", ver: "1.0", idp: "https://sts.example/" }),
  ],
  [
    "of WLCG",
    bare({ "wlcg.ver": "1.0", scope: "openid offline_access storage.read:/", client_id: "portal" }),
  ],
  ["of Cognito", untyped({ token_use: "access" })],
  [
    "without type, and without times other than exp",
    (issuer) => EC.sign({ iss: issuer, sub: "ann", aud: "uftp", exp: SECONDS + 1, scope: "x" }),
  ],
  ["with hints at the place of keys", by(EC, {}, { ...AT, jku: "https://idp.example/keys", x5t: "abc" })],
  ["a minute too early", by(EC, { nbf: SECONDS + 59, iat: SECONDS + 59 })],
];

Deno.test("OAuth accepts tokens as real issuers make them, without asking the provider", async (test) => {
  await withIssuer({}, async ({ provider, ask }) => {
    for (const [what, make] of ACCEPTED) {
      await test.step(what, async () => assert.equal(await ask(make(provider.issuer)), "accepted"));
    }
    assert.equal(provider.server.seen.length, 2);
  });
});

testAuthenticator({
  name: "OAuth with an issuer",
  create: async () => {
    const provider = await startOidcProvider(PROVIDER_TLS);
    provider.keys.push(EC.jwk);
    const http = httpsClient();
    const subject = new OAuth({
      ...OAUTH_CONFIG,
      issuer: FIXED_ISSUER,
      jwksUri: `${provider.issuer}/keys`,
      address: undefined,
      opaqueTokens: false,
      identityTemplate: "CN=%sub%,O=%iss%",
      requiredAudience: ["uftp"],
    }, { http, clock: () => NOW, log: SILENT });
    return alsoClosing(subject, () => {
      http.close();
      void provider[Symbol.asyncDispose]();
    });
  },
  method: "OAUTH",
  good: bearer(EC.sign(claims("https://issuer.example/realm"), AT)),
  bad: {
    "an opaque token": bearer("2YotnFZFEjr1zCsicMWpAA"),
    "a token of a stranger": bearer(STRANGER.sign(claims("https://issuer.example/realm"), AT)),
    "an expired token": bearer(EC.sign({ ...claims("https://issuer.example/realm"), exp: 1 }, AT)),
  },
  foreign: { "a token of another issuer": bearer(EC.sign(claims("https://other.example"), AT)) },
});

const FIXED_ISSUER = "https://issuer.example/realm";

const VICTIM = "https://b.example";

/** Answers of a provider about another provider's user, another user or another token. */
const RESTATED: readonly (readonly [said: Readonly<Record<string, unknown>>, outcome: string])[] = [
  [{ sub: "ann", iss: VICTIM }, "the provider's answer names another issuer"],
  [{ sub: "victim" }, "the provider's answer is about another user"],
  [{ sub: "victim", iss: VICTIM }, "the provider's answer names another issuer"],
  [{ sub: ["ann"] }, "the provider's answer is about another user"],
  [{ sub: "ann", aud: "uftp" }, "the token is not for the required audience"],
  [{ sub: "ann", client_id: "portal" }, "the token was not made for the required client"],
  [{ sub: "ann", azp: "portal" }, "the token was not made for the required client"],
  [{ sub: "ann", appid: "portal" }, "the token was not made for the required client"],
];

Deno.test("a provider's answer overrides nothing that the verified token states", async () => {
  const stranger = { aud: "other", client_id: "other", azp: "other", appid: "other" };
  for (const [said, outcome] of RESTATED) {
    const isOfClient = ["client_id", "azp", "appid"].some((name) => name in said);
    const requires = "aud" in said
      ? { requiredAudience: ["uftp"] }
      : isOfClient
      ? { requiredAudience: [], requiredClient: ["portal"] }
      : { requiredAudience: [], acceptAnyAudience: true };
    const identityTemplate = "CN=%sub%,O=%iss%";
    await withIssuer({ askAlways: true, identityTemplate, ...requires }, async ({ ask, provider }) => {
      const token = EC.sign({ ...claims(provider.issuer), ...stranger }, AT);
      provider.tokens.set(token, said);
      assert.equal(await ask(token), outcome, JSON.stringify(said));
    });
  }
});

Deno.test("a provider's answer never extends, unbinds or renames a verified token", async () => {
  const identityTemplate = "CN=%sub%,O=%iss%";
  await withIssuer({ askAlways: true, identityTemplate }, async ({ ask, subject, provider }) => {
    const bound = EC.sign({ ...claims(provider.issuer), cnf: { jkt: "A".repeat(43) } }, AT);
    provider.tokens.set(bound, { sub: "ann", cnf: undefined });
    assert.equal(await ask(bound), "it is bound to a key, and no proof was shown");
    const other = EC.sign({ ...claims(provider.issuer), jti: "2", cnf: { jkt: "A".repeat(43) } }, AT);
    provider.tokens.set(other, { sub: "ann", cnf: { jkt: "B".repeat(43) } });
    assert.equal(await ask(other), "the provider says that it is bound to another key or certificate");
    const good = EC.sign(claims(provider.issuer), AT);
    provider.tokens.set(good, { sub: "ann", iss: provider.issuer, exp: SECONDS + 9_999, email: "a@b" });
    const result = await subject.authenticate(bearer(good), new AbortController().signal);
    assert(result.kind === "accepted");
    assert.equal(result.identity.dn, `CN=ann,O=${provider.issuer}`);
  });
});

for (const introspect of [false, true]) {
  Deno.test(`an opaque token belongs to the issuer that was asked, and the ${introspect ? "introspection" : "userinfo"} answer may name no other`, async () => {
    const config = { opaqueTokens: true, requiredAudience: [], identityTemplate: "CN=%sub%,O=%iss%" };
    const introspection = introspect ? CLIENT : undefined;
    await withIssuer({ ...config, introspection }, async ({ ask, subject, provider }) => {
      provider.tokens.set("evil", { sub: "victim", iss: VICTIM });
      assert.equal(await ask("evil"), "the provider's answer names another issuer");
      provider.tokens.set("list", { sub: "victim", iss: [VICTIM] });
      assert.equal(await ask("list"), "the provider's answer names another issuer");
      provider.tokens.set("good", { sub: "ann" });
      const result = await subject.authenticate(bearer("good"), new AbortController().signal);
      assert(result.kind === "accepted");
      assert.equal(result.identity.dn, `CN=ann,O=${provider.issuer}`);
    });
  });
}
