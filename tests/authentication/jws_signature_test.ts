import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, sign } from "node:crypto";
import { compactVerify, errors } from "jose";
import fc from "fast-check";
import { isSignedBy } from "../../src/authentication/jws_signature.ts";
import { createSigner, encode, type SigningAlgorithm } from "../identity_provider/token_issuer.ts";
import { rsa2048 } from "../pki/signing_key.ts";

const ALGORITHMS: readonly SigningAlgorithm[] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
const SIGNERS = ALGORITHMS.map((alg) => createSigner(alg, "1"));
// Made together with the signers, since `rsa2048()` gives a key again after five others.
const STRANGERS = new Map(ALGORITHMS.map((alg) => [alg, createSigner(alg, "1").publicKey]));

for (const { alg, publicKey, sign } of SIGNERS) {
  Deno.test(`isSignedBy() agrees with jose on tokens of ${alg}, whatever is changed`, async () => {
    const token = sign({ sub: "ann" });
    assert.equal(await isSignedBy({ text: token, algorithm: alg }, publicKey), true);
    const [head = "", body = "", signature = ""] = token.split(".");
    const change = fc.record({ part: fc.nat(2), at: fc.nat(), by: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(change, async ({ part, at, by }) => {
        const parts = [head, body, signature].map((text, i) => {
          const bytes = new Uint8Array(Uint8Array.fromBase64(text, { alphabet: "base64url" }));
          const place = at % bytes.length;
          if (i === part) bytes[place] = (bytes[place] ?? 0) ^ by;
          return encode(bytes);
        });
        const text = parts.join(".");
        const judged = await compactVerify(text, publicKey, { algorithms: [alg] }).then(
          () => true,
          () => false,
        );
        // `jose` also reads the header, which callers of isSignedBy() have read before.
        if (part === 0 && by !== 0) assert.equal(judged, false);
        else assert.equal(await isSignedBy({ text, algorithm: alg }, publicKey), judged);
      }),
      { numRuns: 25 },
    );
  });
}

Deno.test("isSignedBy() accepts no signature of another algorithm or another key", async () => {
  for (const { alg, sign } of SIGNERS) {
    const text = sign({ sub: "ann" });
    for (const other of SIGNERS) {
      const judged = isSignedBy({ text, algorithm: other.alg }, other.publicKey).catch((error) => {
        assert(error instanceof errors.JOSEError, String(error));
        return false;
      });
      assert.equal(await judged, other.alg === alg, `${alg} ${other.alg}`);
    }
    const stranger = STRANGERS.get(alg) ?? assert.fail();
    assert.equal(await isSignedBy({ text, algorithm: alg }, stranger), false);
  }
});

Deno.test("isSignedBy() accepts no RSA key below 2048 bits", async () => {
  const weak = createSigner("RS256", "1", { bits: 1024 });
  await assert.rejects(isSignedBy({ text: weak.sign({}), algorithm: "RS256" }, weak.publicKey), TypeError);
});

Deno.test("isSignedBy() throws for a key of another type", async () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  await assert.rejects(
    isSignedBy({ text: createSigner("ES256", "1").sign({}), algorithm: "RS256" }, publicKey),
  );
});

Deno.test("isSignedBy() accepts no private key in place of a public one", async () => {
  const { privateKey } = rsa2048();
  const text = `${encode('{"alg":"RS256"}')}.${encode("{}")}`;
  const signature = sign("sha256", Buffer.from(text), privateKey).toString("base64url");
  await assert.rejects(
    isSignedBy({ text: `${text}.${signature}`, algorithm: "RS256" }, privateKey),
    TypeError,
  );
});
