import assert from "node:assert/strict";
import { InvalidReply } from "../../../src/authentication/claims.ts";
import { readMetadata } from "../../../src/authentication/oauth/provider.ts";

const ISSUER = "https://idp.example.org";
const message = (body: string): string => {
  try {
    readMetadata(body, ISSUER);
  } catch (error) {
    assert(error instanceof InvalidReply);
    return error.message;
  }
  assert.fail("nothing is wrong");
};

Deno.test("readMetadata() names the issuer of another issuer's document, in at most 200 characters", () => {
  const of = (issuer: unknown) => message(JSON.stringify({ issuer }));
  assert.equal(
    of("https://other.example.org"),
    `the discovery document is of https://other.example.org, expected ${ISSUER}`,
  );
  assert.equal(of("x".repeat(300)), `the discovery document is of ${"x".repeat(200)}, expected ${ISSUER}`);
  for (const issuer of [undefined, 7, null, [ISSUER]]) {
    assert.equal(of(issuer), `the discovery document is of no issuer, expected ${ISSUER}`);
  }
  assert.match(of(`${ISSUER}/`), /expected/, "character by character (OpenID Connect Discovery 1.0, 4.3)");
});

Deno.test("readMetadata() accepts only a JSON object of the issuer", () => {
  for (const body of ["[]", "null", '"x"', "7"]) assert.match(message(body), /is no JSON object/, body);
  const found = readMetadata(JSON.stringify({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` }), ISSUER);
  assert.equal(found.endpoints.get("jwks_uri"), `${ISSUER}/keys`);
});
