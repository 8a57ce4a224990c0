import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { PossessionCheck, verifyProof } from "../../../src/authentication/oauth/confirmation.ts";
import { ReplayCache } from "../../../src/model/replay_cache.ts";
import { bound } from "../sample_credentials.ts";
import { InvalidToken } from "../../../src/authentication/signed_token.ts";
import { createDpopClient } from "../../identity_provider/dpop_client.ts";
import { createSigner, encode } from "../../identity_provider/token_issuer.ts";

const NOW = Date.UTC(2027, 0, 15, 8);
const REQUEST = {
  token: "the.access.token",
  method: "POST",
  url: "https://auth.example:9000/rest/auth/HPC",
  now: NOW,
};
const [client, other] = [await createDpopClient(), await createDpopClient()];
const SHOWN = { ...REQUEST, seconds: NOW / 1000 };
const made = (change: Parameters<typeof client.prove>[1] = {}) => client.prove(SHOWN, change);
const { kty, crv, x, y, kid: _kid } = client.signer.jwk;
const JWK = { kty, crv, x, y };

/** Makes a proof for another address. */
const elsewhere = (url: string) => made({ claims: { htu: url } });

const REFUSED: Readonly<Record<string, () => string>> = {
  "RFC 9449, 4.3, 2: no JWT": () => "proof",
  "RFC 9449, 4.3, 2: two of them": () => `${made()}, ${made()}`,
  "RFC 9449, 4.3, 2: five parts": () => `${made()}.a.b`,
  "RFC 9449, 4.3, 3: without jti": () => made({ claims: { jti: undefined } }),
  "RFC 9449, 4.3, 3: with an empty jti": () => made({ claims: { jti: "" } }),
  "RFC 9449, 4.3, 3: with a very long jti": () => made({ claims: { jti: "j".repeat(600) } }),
  "RFC 9449, 4.3, 3: without htm": () => made({ claims: { htm: undefined } }),
  "RFC 9449, 4.3, 3: without htu": () => made({ claims: { htu: undefined } }),
  "RFC 9449, 4.3, 3: without iat": () => made({ claims: { iat: undefined } }),
  "RFC 9449, 4.3, 3: iat as text": () => made({ claims: { iat: String(NOW / 1000) } }),
  "RFC 9449, 4.3, 4: without type": () => made({ header: { typ: undefined } }),
  "RFC 9449, 4.3, 4: of type JWT": () => made({ header: { typ: "JWT" } }),
  "RFC 9449, 4.3, 4: of type at+jwt": () => made({ header: { typ: "at+jwt" } }),
  "RFC 9449, 4.3, 5: unsigned": () => `${encode('{"alg":"none","typ":"dpop+jwt"}')}.${made().split(".")[1]}.`,
  "RFC 9449, 4.3, 5: signed with a shared secret": () => {
    const key = { kty: "oct", k: encode("secret") };
    const content = `${encode(JSON.stringify({ alg: "HS256", typ: "dpop+jwt", jwk: key }))}.${
      made().split(".")[1]
    }`;
    return `${content}.${createHmac("sha256", "secret").update(content).digest("base64url")}`;
  },
  "RFC 9449, 4.3, 6: signed by another key": () => made({ signer: other.signer }),
  "RFC 9449, 4.3, 6: without key": () => made({ header: { jwk: undefined } }),
  "RFC 9449, 4.3, 6: an invalid key": () =>
    made({ header: { jwk: { kty: "EC", crv: "P-256", x: "A", y: "A" } } }),
  "RFC 9449, 4.3, 6: a list as key": () => made({ header: { jwk: [JWK] } }),
  "RFC 9449, 4.3, 7: a private key": () => made({ header: { jwk: { ...JWK, d: "AAAA" } } }),
  "RFC 9449, 4.3, 8: for another method": () => made({ claims: { htm: "GET" } }),
  "RFC 9449, 4.3, 8: for the method in lower case": () => made({ claims: { htm: "post" } }),
  "RFC 9449, 4.3, 9: for another path": () => elsewhere("https://auth.example:9000/rest/auth"),
  "RFC 9449, 4.3, 9: for a path with a trailing slash": () => elsewhere(`${REQUEST.url}/`),
  "RFC 9449, 4.3, 9: for another port": () => elsewhere("https://auth.example/rest/auth/HPC"),
  "RFC 9449, 4.3, 9: for another host": () => elsewhere("https://evil.example:9000/rest/auth/HPC"),
  "RFC 9449, 4.3, 9: for http": () => elsewhere("http://auth.example:9000/rest/auth/HPC"),
  "RFC 9449, 4.3, 9: for a path without host": () => elsewhere("/rest/auth/HPC"),
  "RFC 9449, 4.3, 11: too old": () => client.prove({ ...SHOWN, seconds: NOW / 1000 - 121 }),
  "RFC 9449, 4.3, 11: from the future": () => client.prove({ ...SHOWN, seconds: NOW / 1000 + 61 }),
  "RFC 9449, 4.3, 12: for another token": () => client.prove({ ...SHOWN, token: "another" }),
  "RFC 9449, 4.3, 12: without ath": () => made({ claims: { ath: undefined } }),
  "RFC 7515, 4.1.11: with a critical member": () => made({ header: { crit: ["exp"], exp: 1 } }),
  "RFC 7516, 4.1.2: with an encryption member": () => made({ header: { enc: "A256GCM" } }),
  "RFC 7516, 4.1.3: with a compression member": () => made({ header: { zip: "DEF" } }),
  "RFC 7797, 3: with b64": () => made({ header: { b64: true } }),
  "RFC 8725, 2.4: with an htu given twice": () =>
    client.signer.signRaw(
      JSON.stringify({ alg: "ES256", typ: "dpop+jwt", jwk: JWK }),
      `{"htu":"https://evil.example","htu":${JSON.stringify(REQUEST.url)}}`,
    ),
  "too long": () => made({ claims: { more: "x".repeat(4096) } }),
};
for (const [what, make] of Object.entries(REFUSED)) {
  Deno.test(`verifyProof() refuses a proof: ${what}`, async () => {
    await assert.rejects(verifyProof(make(), REQUEST), InvalidToken);
  });
}

Deno.test("verifyProof() returns thumbprint and id of a proof, and until when it could be replayed", async () => {
  const proof = await verifyProof(made({ claims: { jti: "this one" } }), REQUEST);
  assert.deepEqual(proof, { thumbprint: client.jkt, id: "this one", endsAt: NOW + 120_000 });
});

Deno.test("verifyProof() compares URLs as RFC 3986 normalizes them, without query and fragment", async () => {
  for (const url of [`${REQUEST.url}?a=b`, `${REQUEST.url}#x`, "HTTPS://AUTH.example:9000/rest/./auth/HPC"]) {
    await verifyProof(elsewhere(url), REQUEST);
    await verifyProof(made(), { ...REQUEST, url });
  }
  await verifyProof(made({ claims: { htu: "https://a.example:443/" } }), {
    ...REQUEST,
    url: "https://a.example/",
  });
  const at = (path: string) => `https://auth.example:9000/dav/HPC/${path}`;
  for (
    const [one, same, another] of [["~ann", "%7Eann", "%2Fann"], ["%C3%A4", "%c3%a4", "%C3%A5"]] as const
  ) {
    for (const [url, claimed] of [[one, same], [same, one]] as const) {
      await verifyProof(elsewhere(at(claimed)), { ...REQUEST, url: at(url) });
    }
    await assert.rejects(verifyProof(elsewhere(at(another)), { ...REQUEST, url: at(one) }), InvalidToken);
  }
  await assert.rejects(verifyProof(elsewhere(at("a/b")), { ...REQUEST, url: at("a%2Fb") }), InvalidToken);
});

Deno.test("verifyProof() accepts each type of signing key", async () => {
  for (const alg of ["RS256", "PS256", "ES384", "EdDSA"] as const) {
    const signer = createSigner(alg, "c");
    const { kid: _kid, alg: _alg, use: _use, ...jwk } = signer.jwk;
    assert.ok(await verifyProof(made({ signer, header: { jwk } }), REQUEST));
  }
});

Deno.test("verifyProof() rejects any other text with InvalidToken", async () => {
  const texts = fc.oneof(
    fc.string(),
    fc.record({ header: fc.json(), claims: fc.json() })
      .map(({ header, claims }) => `${encode(header)}.${encode(claims)}.AAAA`),
    fc.json().map((jwk) => made({ header: { jwk: JSON.parse(jwk) } })),
  );
  await fc.assert(
    fc.asyncProperty(texts, (text) => assert.rejects(verifyProof(text, REQUEST), InvalidToken)),
  );
});

Deno.test("PossessionCheck keeps room for the proofs of other users, however many keys one user has", async () => {
  const check = new PossessionCheck(() => NOW, new ReplayCache({ all: 20, perOwner: 10 }, () => NOW));
  const prove = async (user: string) => {
    const { jkt, prove } = await createDpopClient();
    const proof = { ...REQUEST, text: prove(SHOWN) };
    await check.check(user, { jkt }, bound(REQUEST.token, proof));
    return { jkt, proof };
  };
  const first = await prove("CN=greedy");
  let refused = 0;
  for (let i = 0; i < 20; i++) await prove("CN=greedy").catch(() => refused++);
  assert(refused > 10);
  await prove("CN=modest");
  await assert.rejects(
    check.check("CN=modest", { jkt: first.jkt }, bound(REQUEST.token, first.proof)),
    new InvalidToken("the proof was shown before", { advice: "proof" }),
    "for whomever it is shown",
  );
});
