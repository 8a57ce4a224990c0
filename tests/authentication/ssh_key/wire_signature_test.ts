import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { sign } from "node:crypto";
import { decodePublicKey, isWireSigned } from "../../../src/authentication/ssh_key/public_key.ts";
import { privateKey, publicKeyWords, wireString } from "./user_keys.ts";

Deno.test("isWireSigned() accepts only a complete signature, without further bytes, of the key's algorithm", () => {
  const [, blob] = publicKeyWords("user_ed25519");
  const key = decodePublicKey("ssh-ed25519", blob);
  const signed = Buffer.from("signed");
  const value = wireString(sign(null, signed, privateKey("user_ed25519")));
  const whole = Buffer.concat([wireString("ssh-ed25519"), value]);
  assert.equal(isWireSigned(signed, whole, key), true);
  for (let length = 0; length < whole.length; length++) {
    assert.equal(isWireSigned(signed, whole.subarray(0, length), key), false, String(length));
  }
  assert.equal(isWireSigned(signed, Buffer.concat([whole, Buffer.alloc(1)]), key), false);
  const other = Buffer.concat([wireString("rsa-sha2-256"), value]);
  assert.equal(isWireSigned(signed, other, key), false);
});
