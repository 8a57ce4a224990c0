import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import fc from "fast-check";
import { decodePublicKey, isSshKeyType } from "../../../../src/authentication/ssh_key/public_key.ts";
import {
  PassphraseNeeded,
  readPrivateKey,
  signToken,
  UnusablePrivateKey,
} from "../../../../src/command/diagnosis/ssh/private_key.ts";
import { readSshToken } from "../../../../src/authentication/ssh_key/key_trial.ts";
import { isSignedBy } from "../../../../src/authentication/jws_signature.ts";

const FOLDER = new URL("../../../fixtures/ssh_keys/", import.meta.url);
const fixture = (name: string) => Deno.readTextFileSync(new URL(name, FOLDER));

/** Returns the key of a `.pub` file. */
function publicKey(name: string): KeyObject {
  const [type = "", blob = ""] = fixture(`${name}.pub`).split(" ");
  assert(isSshKeyType(type));
  return decodePublicKey(type, blob).key;
}

const OPEN = [
  "user_ed25519",
  "openssh_rsa2048",
  "openssh_ecdsa256",
  "openssh_ecdsa521",
  "user_rsa2048",
  "user_ecdsa384",
];
const LOCKED = ["locked_ed25519", "locked_rsa2048", "locked_ecdsa384", "locked_pkcs8_rsa2048"];

for (const name of OPEN) {
  Deno.test(`readPrivateKey() reads ${name}`, async () => {
    assert(createPublicKey(await readPrivateKey(fixture(name))).equals(publicKey(name)));
  });
}

for (const name of LOCKED) {
  Deno.test(`readPrivateKey() decrypts ${name} only with its passphrase`, async () => {
    const text = fixture(name);
    assert(createPublicKey(await readPrivateKey(text, "open sesame")).equals(publicKey(name)));
    for (const wrong of [undefined, "", "Open sesame"]) {
      await assert.rejects(readPrivateKey(text, wrong), PassphraseNeeded);
    }
  });
}

const BAD: [string, string, RegExp][] = [
  ["nothing", "", /not a private key/],
  ["a public key", fixture("user_ed25519.pub"), /not a private key/],
  ["an unknown cipher", fixture("locked_chacha_ed25519"), /not a private key in a known form/],
  [
    "an empty container",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----",
    /not a private key in a known form/,
  ],
  [
    "empty PKCS#8",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    /not a private key in a known form/,
  ],
];
for (const [what, text, message] of BAD) {
  Deno.test(`readPrivateKey() refuses ${what}`, async () => {
    await assert.rejects(readPrivateKey(text, "open sesame"), { constructor: UnusablePrivateKey, message });
  });
}

Deno.test("readPrivateKey() reads a damaged container or throws its own errors", async () => {
  const bytes = Buffer.from(fixture("openssh_ecdsa256").replace(/-----[^-]+-----/g, ""), "base64");
  const index = fc.nat({ max: bytes.length - 1 });
  await fc.assert(
    fc.asyncProperty(index, fc.integer({ min: 1, max: 255 }), fc.boolean(), async (at, change, cut) => {
      const damaged = Buffer.from(cut ? bytes.subarray(0, at) : bytes);
      if (!cut) damaged[at] = (damaged[at] ?? 0) ^ change;
      const text = `-----BEGIN OPENSSH PRIVATE KEY-----\n${
        damaged.toString("base64")
      }\n-----END OPENSSH PRIVATE KEY-----\n`;
      try {
        await readPrivateKey(text);
      } catch (error) {
        assert(error instanceof UnusablePrivateKey || error instanceof PassphraseNeeded, String(error));
      }
    }),
  );
});

const SIGNING_FOLDER = new URL("../../../fixtures/ssh_keys/", import.meta.url);
const NOW = 1_800_000_000_000;

for (
  const name of ["user_ed25519", "openssh_rsa2048", "openssh_ecdsa256", "user_ecdsa384", "openssh_ecdsa521"]
) {
  Deno.test(`signToken() signs a token with ${name} that the service accepts`, async () => {
    const token = signToken(
      "ann",
      await readPrivateKey(Deno.readTextFileSync(new URL(name, SIGNING_FOLDER))),
      NOW,
    );
    const read = readSshToken(token, {
      now: NOW,
      audience: "CN=x",
      maxLifetime: { seconds: 300, setting: "" },
    });
    assert.equal(read.user, "ann");
    const [type = "", blob = ""] = Deno.readTextFileSync(new URL(`${name}.pub`, SIGNING_FOLDER)).split(" ");
    assert(isSshKeyType(type));
    assert(await isSignedBy(read, decodePublicKey(type, blob).key));
  });
}

Deno.test("signToken() refuses keys that no service accepts", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  assert.throws(() => signToken("ann", privateKey, NOW), UnusablePrivateKey);
  assert(createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })).equals(privateKey));
});
