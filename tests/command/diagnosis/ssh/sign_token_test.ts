import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { decodePublicKey, isSshKeyType } from "../../../../src/authentication/ssh_key/public_key.ts";
import { readSshToken } from "../../../../src/authentication/ssh_key/key_trial.ts";
import { isSignedBy } from "../../../../src/authentication/jws_signature.ts";
import { readPrivateKey, UnusablePrivateKey } from "../../../../src/command/diagnosis/ssh/private_key.ts";
import { signToken } from "../../../../src/command/diagnosis/ssh/sign_token.ts";

const FOLDER = new URL("../../../fixtures/ssh_keys/", import.meta.url);
const NOW = 1_800_000_000_000;

for (
  const name of ["user_ed25519", "openssh_rsa2048", "openssh_ecdsa256", "user_ecdsa384", "openssh_ecdsa521"]
) {
  Deno.test(`signToken() makes a token of ${name} that the service accepts`, async () => {
    const token = signToken("ann", await readPrivateKey(Deno.readTextFileSync(new URL(name, FOLDER))), NOW);
    const read = readSshToken(token, {
      now: NOW,
      audience: "CN=x",
      maxLifetime: { seconds: 300, setting: "" },
    });
    assert.equal(read.user, "ann");
    const [type = "", blob = ""] = Deno.readTextFileSync(new URL(`${name}.pub`, FOLDER)).split(" ");
    assert(isSshKeyType(type));
    assert(await isSignedBy(read, decodePublicKey(type, blob).key));
  });
}

Deno.test("signToken() refuses keys that no service accepts", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  assert.throws(() => signToken("ann", privateKey, NOW), UnusablePrivateKey);
  assert(createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })).equals(privateKey));
});
