import assert from "node:assert/strict";
import fc from "fast-check";
import { InvalidToken, readForeignToken } from "../../src/authentication/signed_token.ts";
import { unsignedJwt } from "./sample_credentials.ts";

/** Returns why a token must not reach a provider. */
function diagnosticOf(token: string): string | undefined {
  try {
    readForeignToken(token);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidToken) return error.message;
    throw error;
  }
}

const ALGORITHM = "the head of the token names no signature algorithm";
const HEAD = "the head of the token is no JSON object";
const CLAIMS = "the claims of the token are no JSON object";
const encode = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const claims = { sub: "ann", iss: "https://idp.example" };

const TOKENS: [string, string, string | undefined][] = [
  ["a signed JWT", unsignedJwt(claims, { alg: "RS256", typ: "JWT", kid: "1" }), undefined],
  ["a JWT with further members in its head", unsignedJwt(claims, { alg: "ES256", x5t: "a" }), undefined],
  ["an algorithm in the wrong case", unsignedJwt(claims, { alg: "rs256" }), ALGORITHM],
  ["an unsigned JWT", unsignedJwt(claims, { alg: "none" }), ALGORITHM],
  ["a head without algorithm", unsignedJwt(claims, {}), ALGORITHM],
  ["an algorithm that is a list", unsignedJwt(claims, { alg: ["RS256"] }), ALGORITHM],
  ["an algorithm for encryption", unsignedJwt(claims, { alg: "RSA-OAEP" }), ALGORITHM],
  ["a head that is null", unsignedJwt(claims, null), HEAD],
  ["a head that is a list", unsignedJwt(claims, []), HEAD],
  ["a head that is no JSON", `abc.${encode("{}")}.AAAA`, HEAD],
  ["a head with a member given twice", `${encode('{"alg":"RS256","alg":"none"}')}.${encode("{}")}.AA`, HEAD],
  ["a head that is not UTF-8", `${encode('{"alg":"RS256","x":"\xff"}')}.${encode("{}")}.AA`, HEAD],
  ["an empty head", `.${encode("{}")}.AAAA`, HEAD],
  ["claims that are null", unsignedJwt(null, { alg: "RS256" }), CLAIMS],
  ["claims that are a string", unsignedJwt("ann", { alg: "RS256" }), CLAIMS],
  ["empty claims", `${encode('{"alg":"RS256"}')}..AAAA`, CLAIMS],
  [
    "an empty signature",
    `${encode('{"alg":"RS256"}')}.${encode("{}")}.`,
    "the signature of the token is not in base64url",
  ],
  [
    "a signature in another form",
    unsignedJwt(claims).replace(/AAAA$/, "AA+A"),
    "the signature of the token is not in base64url",
  ],
  ["three arbitrary parts", "ya29.a0.b", "the signature of the token is not in base64url"],
];
for (const [what, token, diagnostic] of TOKENS) {
  Deno.test(`readForeignToken() of ${what} reports ${diagnostic ?? "nothing"}`, () => {
    assert.equal(diagnosticOf(token), diagnostic);
  });
}

Deno.test("readForeignToken() leaves opaque tokens to the provider", () => {
  for (const token of ["2YotnFZFEjr1zCsicMWpAA", "ya29.a0AfH6SM", "a.b.c.d.e", "", "."]) {
    assert.equal(readForeignToken(token), undefined);
  }
});

Deno.test("readForeignToken() throws only InvalidToken for any text", () => {
  const part = fc.oneof(fc.string(), fc.json().map((text) => encode(encodeURI(text))));
  fc.assert(fc.property(part, part, part, (a, b, c) => {
    diagnosticOf(`${a}.${b}.${c}`);
  }));
});
