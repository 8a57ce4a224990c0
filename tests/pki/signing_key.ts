import type { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import * as der from "./der.ts";

export type KeyType = "ec-p256" | "rsa-1024" | "rsa-2048" | "ed25519";

/** A key pair that can sign certificates. */
export interface SigningKey {
  readonly publicKey: KeyObject;
  /** Private key as PKCS#8. */
  readonly pem: string;
  /** AlgorithmIdentifier of the signature, as DER. */
  readonly algorithm: Buffer;
  sign(content: Uint8Array): Buffer;
}

export function createKeyPair(type: KeyType): SigningKey {
  const { publicKey, privateKey } = generate(type);
  return {
    publicKey,
    pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    algorithm: ALGORITHMS[type],
    sign: (content) => sign(type === "ed25519" ? null : "sha256", content, privateKey),
  };
}

function generate(type: KeyType): { publicKey: KeyObject; privateKey: KeyObject } {
  switch (type) {
    case "ec-p256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case "rsa-1024":
      return generateKeyPairSync("rsa", { modulusLength: 1024 });
    case "rsa-2048":
      return rsa2048();
    case "ed25519":
      return generateKeyPairSync("ed25519");
  }
}

/** RSA keys of 2048 bits: generating one takes a quarter of a second. They protect nothing. */
const RSA_2048 = Deno.readTextFileSync(new URL("./rsa_2048_keys.pem", import.meta.url)).split(
  /(?<=-----END .*\n)/,
);
let taken = 0;

/** Returns a ready key pair that differs from the five before it; no test file needs more than six. */
export function rsa2048(): { publicKey: KeyObject; privateKey: KeyObject } {
  const privateKey = createPrivateKey(RSA_2048[taken++ % RSA_2048.length] ?? "");
  return { publicKey: createPublicKey(privateKey), privateKey };
}

const RSA_SHA256 = der.sequence(der.objectIdentifier("1.2.840.113549.1.1.11"), der.nothing());

/** Signature algorithm of each key type (RFC 5758, RFC 4055, RFC 8410). */
const ALGORITHMS: Readonly<Record<KeyType, Buffer>> = {
  "ec-p256": der.sequence(der.objectIdentifier("1.2.840.10045.4.3.2")),
  "rsa-1024": RSA_SHA256,
  "rsa-2048": RSA_SHA256,
  "ed25519": der.sequence(der.objectIdentifier("1.3.101.112")),
};
