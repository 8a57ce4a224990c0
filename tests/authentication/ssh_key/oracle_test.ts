/** Comparison of public keys and signatures with `ssh2`: it reads all keys that we read, as the same keys. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import keyParser from "ssh2/lib/protocol/keyParser.js";
import { decodePublicKey, isSshKeyType } from "../../../src/authentication/ssh_key/public_key.ts";
import { certificate } from "./certificate/certificates.ts";

const FOLDER = new URL("../../fixtures/ssh_keys/", import.meta.url);
const NAMES = ["user_ed25519", "openssh_rsa2048", "openssh_ecdsa256", "user_ecdsa384", "openssh_ecdsa521"];

interface Parsed {
  readonly type: string;
  getPublicPEM(): string;
  sign(data: Uint8Array): Uint8Array;
}

function isParsed(value: unknown): value is Parsed {
  return typeof value === "object" && value !== null && "getPublicPEM" in value;
}

/** Returns the key that `ssh2` reads from a line; `undefined` if it refuses the line. */
function bySsh2(line: string): Parsed | undefined {
  const parsed: unknown = keyParser.parseKey(line);
  return isParsed(parsed) ? parsed : undefined;
}

function ours(line: string) {
  const [type = "", blob = ""] = line.split(" ");
  if (!isSshKeyType(type)) return undefined;
  try {
    return decodePublicKey(type, blob).key;
  } catch {
    return undefined;
  }
}

for (const name of NAMES) {
  const line = Deno.readTextFileSync(new URL(`${name}.pub`, FOLDER)).trim();

  Deno.test(`decodePublicKey() reads ${name} as ssh2 does`, () => {
    assert.equal(
      ours(line)?.export({ type: "spki", format: "pem" }).toString().trim(),
      bySsh2(line)?.getPublicPEM().trim(),
    );
  });

  Deno.test(`decodePublicKey() accepts no variant of ${name} that ssh2 refuses`, () => {
    const [type = "", blob = ""] = line.split(" ");
    const bytes = Buffer.from(blob, "base64");
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        const text = `${type} ${changed.toString("base64")}`;
        const key = ours(text);
        if (key === undefined) return;
        assert.equal(
          key.export({ type: "spki", format: "pem" }).toString().trim(),
          bySsh2(text)?.getPublicPEM().trim(),
        );
      }),
    );
  });
}

Deno.test("readUserCertificate() reads certified keys and the keys of their authorities as ssh2 does", () => {
  for (
    const name of ["by_ed25519", "by_rsa3072", "of_rsa2048", "of_ecdsa256", "of_ecdsa384", "by_ecdsa521"]
  ) {
    const { publicKey, authority } = certificate(name);
    for (const { type, blob, key } of [publicKey, authority]) {
      assert.equal(
        bySsh2(`${type} ${blob.toString("base64")}`)?.getPublicPEM().trim(),
        key.export({ type: "spki", format: "pem" }).toString().trim(),
      );
    }
  }
});

Deno.test("decodePublicKey() reads a key that verifies signatures of ssh2", () => {
  const text = Deno.readTextFileSync(new URL("user_ed25519", FOLDER));
  const parsed: unknown = keyParser.parseKey(text);
  const [key] = Array.isArray(parsed) ? parsed : [parsed];
  assert(isParsed(key));
  const data = crypto.getRandomValues(new Uint8Array(100));
  const read = ours(Deno.readTextFileSync(new URL("user_ed25519.pub", FOLDER)));
  assert(read !== undefined && verify(null, data, read, key.sign(data)));
  const { privateKey } = generateKeyPairSync("ed25519");
  assert.equal(verify(null, data, read, sign(null, data, privateKey)), false);
});
