import assert from "node:assert/strict";
import { createPublicKey, createSecretKey } from "node:crypto";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { isSignedBy } from "../../../src/authentication/jws_signature.ts";
import { InvalidToken } from "../../../src/authentication/signed_token.ts";
import { readSshToken } from "../../../src/authentication/ssh_key/key_trial.ts";
import { signToken } from "../sign_token.ts";
import { privateKey } from "./user_keys.ts";

const NOW = 1_800_000_100_000;
const SERVER = "CN=auth.site-a.example,O=Site-A,C=DE";
const RULES = { now: NOW, audience: SERVER, maxLifetime: { seconds: 86_400, setting: "a.setting" } };
const KEY = privateKey("user_ed25519");
const CLAIMS = { sub: "ann", iss: "ann", iat: 1_800_000_000, exp: 1_800_000_300 };

/** Returns why a token is refused, or `undefined`. */
function refusal(text: string, rules = RULES): string | undefined {
  try {
    readSshToken(text, rules);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidToken) return error.message;
    throw error;
  }
}

function withClaims(changes: Readonly<Record<string, unknown>>): string {
  return signToken({ claims: { ...CLAIMS, ...changes }, key: KEY });
}

function withHeader(header: unknown): string {
  return signToken({ header, claims: CLAIMS, key: KEY, signWith: "EdDSA" });
}

Deno.test("readSshToken() reads the tokens of each client", () => {
  const tokens = [
    withClaims({}),
    signToken({ header: { alg: "Ed25519" }, claims: CLAIMS, key: KEY }),
    signToken({ header: { typ: "JWT", alg: "EdDSA" }, claims: { ...CLAIMS, etd: "false" }, key: KEY }),
    signToken({ header: { alg: "RS256" }, claims: CLAIMS, key: privateKey("user_rsa3072") }),
    signToken({ header: { alg: "ES384" }, claims: CLAIMS, key: privateKey("user_ecdsa384") }),
    withClaims({ etd: false, aud: SERVER }),
    withClaims({ aud: ["CN=other", SERVER] }),
    withClaims({ nbf: 1_800_000_160, jti: "x", more: { a: [1] } }),
    withClaims({ exp: 1_800_000_041 }),
    withClaims({ exp: 1_800_000_100 + 86_400 + 60 }),
    withHeader({ alg: "EdDSA", typ: "jwt", kid: "1" }),
  ];
  for (const token of tokens) assert.equal(refusal(token), undefined, token);
  assert.equal(readSshToken(withClaims({}), RULES).user, "ann");
});

const [HEAD = "", BODY = "", SIGNATURE = ""] = withClaims({}).split(".");

/** Tokens that break a rule, with the reason that goes to the log (RFC 8725, and credentials.md 3.7). */
const BAD: [string, string, RegExp][] = [
  [
    "an unsecured token",
    signToken({ header: { alg: "none" }, claims: CLAIMS, key: KEY }),
    /base64url|algorithm/,
  ],
  ["alg none with a signature", withHeader({ alg: "none" }), /algorithm/],
  ["alg None", withHeader({ alg: "None" }), /algorithm/],
  ["alg HS256", withHeader({ alg: "HS256" }), /algorithm/],
  ["alg ES256K", withHeader({ alg: "ES256K" }), /algorithm/],
  ["alg Ed448", withHeader({ alg: "Ed448" }), /algorithm/],
  ["alg in another case", withHeader({ alg: "eddsa" }), /algorithm/],
  ["alg that names an inherited property", withHeader({ alg: "__proto__" }), /algorithm/],
  ["no alg", withHeader({ typ: "JWT" }), /no signature algorithm/],
  ["alg as a list", withHeader({ alg: ["EdDSA"] }), /no signature algorithm/],
  ["alg twice", withHeader('{"alg":"EdDSA","alg":"none"}'), /no JSON object/],
  ["alg twice, once escaped", withHeader('{"alg":"none","\\u0061lg":"EdDSA"}'), /no JSON object/],
  ["crit", withHeader({ alg: "EdDSA", crit: ["exp"], exp: 1 }), /more than/],
  ["empty crit", withHeader({ alg: "EdDSA", crit: [] }), /more than/],
  ["b64", withHeader({ alg: "EdDSA", b64: false }), /more than/],
  ["jwk", withHeader({ alg: "EdDSA", jwk: createPublicKey(KEY).export({ format: "jwk" }) }), /more than/],
  ["jku", withHeader({ alg: "EdDSA", jku: "https://keys.example/" }), /more than/],
  ["x5u", withHeader({ alg: "EdDSA", x5u: "https://keys.example/" }), /more than/],
  ["x5c", withHeader({ alg: "EdDSA", x5c: ["AAAA"] }), /more than/],
  ["zip", withHeader({ alg: "EdDSA", zip: "DEF" }), /more than/],
  ["another type", withHeader({ alg: "EdDSA", typ: "at+jwt" }), /type JWT/],
  ["a number as type", withHeader({ alg: "EdDSA", typ: 1 }), /type JWT/],
  ["a header that is no object", withHeader("[]"), /JSON object/],
  ["a header that is no JSON", withHeader("alg=EdDSA"), /JSON object/],
  ["no sub", withClaims({ sub: undefined }), /sub/],
  ["empty sub", withClaims({ sub: "", iss: "" }), /sub/],
  ["sub as a number", withClaims({ sub: 1, iss: 1 }), /sub/],
  ["sub as a list", withClaims({ sub: ["ann"], iss: ["ann"] }), /sub/],
  [
    "half a surrogate in sub",
    signToken({ claims: `{"sub":"\\ud800","iss":"\\ud800","exp":1800000300}`, key: KEY }),
    /sub/,
  ],
  ["no iss", withClaims({ iss: undefined }), /iss/],
  ["another iss", withClaims({ iss: "bob" }), /differ/],
  ["iss in another case", withClaims({ iss: "Ann" }), /differ/],
  [
    "sub twice",
    signToken({ claims: `{"sub":"bob","sub":"ann","iss":"ann","exp":1800000300}`, key: KEY }),
    /no JSON object/,
  ],
  [
    "exp twice",
    signToken({ claims: `{"sub":"ann","iss":"ann","exp":1,"exp":1800000300}`, key: KEY }),
    /no JSON object/,
  ],
  ["claims that are no object", signToken({ claims: `"ann"`, key: KEY }), /JSON object/],
  ["etd", withClaims({ etd: "true" }), /issued/],
  ["etd as a number", withClaims({ etd: 1 }), /issued/],
  ["etd as a list", withClaims({ etd: ["true"] }), /issued/],
  ["no exp", withClaims({ exp: undefined }), /expiry/],
  ["exp as text", withClaims({ exp: "1800000300" }), /expiry/],
  ["exp null", withClaims({ exp: null }), /expiry/],
  ["infinite exp", signToken({ claims: `{"sub":"ann","iss":"ann","exp":1e999}`, key: KEY }), /lifetime/],
  ["expired", withClaims({ exp: 1_800_000_040 }), /^expired/],
  ["exp in milliseconds", withClaims({ exp: 1_800_000_300_000 }), /lifetime/],
  [
    "more than a day",
    withClaims({ exp: 1_800_000_100 + 86_400 + 61 }),
    /more than the 86400 seconds of a\.setting/,
  ],
  ["not valid yet", withClaims({ nbf: 1_800_000_161 }), /not valid yet/],
  ["nbf as text", withClaims({ nbf: "0" }), /not valid yet/],
  ["nbf null", withClaims({ nbf: null }), /not valid yet/],
  ["another audience", withClaims({ aud: "CN=other" }), /another server/],
  [
    "an audience in another spelling",
    withClaims({ aud: "CN=auth.site-a.example, O=Site-A, C=DE" }),
    /another server/,
  ],
  ["an empty audience", withClaims({ aud: "" }), /another server/],
  ["no audience in the list", withClaims({ aud: [] }), /another server/],
  ["an audience that is null", withClaims({ aud: null }), /another server/],
  ["an audience inside a list", withClaims({ aud: [[SERVER]] }), /another server/],
  ["two parts", `${HEAD}.${BODY}`, /three parts/],
  ["four parts", `${HEAD}.${BODY}.${SIGNATURE}.${SIGNATURE}`, /three parts/],
  ["five parts", "a.b.c.d.e", /three parts/],
  ["no signature", `${HEAD}.${BODY}.`, /base64url/],
  ["padding", `${HEAD}=.${BODY}.${SIGNATURE}`, /no JSON object/],
  ["a blank", `${HEAD}.${BODY} .${SIGNATURE}`, /no JSON object/],
  ["standard base64", `${HEAD}.${BODY}.+${SIGNATURE.slice(1)}`, /base64url/],
  ["bits beyond the last byte", `${HEAD}.${BODY}.${SIGNATURE.slice(0, -1)}h`, /base64url/],
  ["more than 8 KiB", withClaims({ pad: "x".repeat(8192) }), /too long/],
  ["nothing", "", /three parts/],
];

Deno.test(`readSshToken() refuses each of ${BAD.length} kinds of bad token, and says why`, () => {
  for (const [what, token, reason] of BAD) assert.match(refusal(token) ?? "accepted", reason, what);
});

Deno.test("readSshToken() repeats nothing of the token in its reason", () => {
  for (const [, token] of BAD) {
    const reason = refusal(token) ?? "";
    for (const part of ["bob", "CN=other", "18000", "keys.example", BODY.slice(0, 12)]) {
      assert.ok(!reason.includes(part), reason);
    }
  }
});

Deno.test("isSignedBy() returns false for a signature that is truncated, changed, or made by another key", async () => {
  const key = createPublicKey(KEY);
  const changed = `${HEAD}.${
    Buffer.from(JSON.stringify({ ...CLAIMS, sub: "bob", iss: "bob" })).toString("base64url")
  }.${SIGNATURE}`;
  const other = signToken({ claims: CLAIMS, key: privateKey("other_ed25519") });
  assert.equal(await isSignedBy(readSshToken(withClaims({}), RULES), key), true);
  for (const text of [`${HEAD}.${BODY}.${SIGNATURE.slice(0, 40)}`, `${HEAD}.${BODY}.AAAA`, changed, other]) {
    assert.equal(await isSignedBy(readSshToken(text, RULES), key), false, text);
  }
});

Deno.test("isSignedBy() returns false for ECDSA signatures in DER, of another curve, and of zeros", async () => {
  const key = createPublicKey(privateKey("user_ecdsa256"));
  const header = { alg: "ES256" };
  const good = signToken({ header, claims: CLAIMS, key: privateKey("user_ecdsa256") });
  const unsigned = good.slice(0, good.lastIndexOf(".") + 1);
  assert.equal(await isSignedBy(readSshToken(good, RULES), key), true);
  const bad = [
    signToken({ header, claims: CLAIMS, key: privateKey("user_ecdsa384"), signWith: "ES384" }),
    signToken({ header, claims: CLAIMS, key: privateKey("user_ecdsa384"), signWith: "ES256" }),
    unsigned + Buffer.alloc(64).toString("base64url"),
    unsigned +
    Buffer.from(`3044${"0220" + "11".repeat(32)}${"0220" + "22".repeat(32)}`, "hex").toString("base64url"),
  ];
  for (const text of bad) assert.equal(await isSignedBy(readSshToken(text, RULES), key), false, text);
});

Deno.test("readSshToken() throws only its own error, whatever the text", () => {
  const part = fc.oneof(
    fc.string(),
    fc.json().map((json) => Buffer.from(json).toString("base64url")),
    fc.constantFrom(HEAD, BODY, SIGNATURE, ""),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const text = parts.join(".");
      const expected = text === `${HEAD}.${BODY}.${SIGNATURE}` ? undefined : "string";
      if (expected === "string" && parts.length === 3 && parts[0] === HEAD && parts[1] === BODY) return;
      assert.equal(typeof refusal(text), expected ?? "undefined");
    }),
    { numRuns: 2000 },
  );
});

Deno.test("readSshToken() refuses an HMAC token with the public key as secret", () => {
  const spki = createPublicKey(KEY).export({ type: "spki", format: "pem" });
  const secret = createSecretKey(Buffer.from(spki.toString()));
  const token = signToken({ header: { alg: "HS256" }, claims: CLAIMS, key: secret });
  assert.match(refusal(token) ?? "accepted", /algorithm/);
});
