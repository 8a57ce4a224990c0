import { Buffer } from "node:buffer";
import { type KeyObject, verify } from "node:crypto";
import type { SshKeyType, SshPublicKey } from "./public_key.ts";
import { UnusableKey, WireReader } from "./wire_reader.ts";

/** Digest and field size by curve (RFC 5656, 6.2.1). */
export const ECDSA = {
  "ecdsa-sha2-nistp256": { hash: "sha256", size: 32 },
  "ecdsa-sha2-nistp384": { hash: "sha384", size: 48 },
  "ecdsa-sha2-nistp521": { hash: "sha512", size: 66 },
} as const;

type EcdsaType = keyof typeof ECDSA;

/** RFC 8332, 3; without SHA-1 (`ssh-rsa`). */
const RSA_HASHES: ReadonlyMap<string, string> = new Map([
  ["rsa-sha2-256", "sha256"],
  ["rsa-sha2-512", "sha512"],
]);

/** Verifies an SSH signature (RFC 4253, 6.6; RFC 5656, 3.1.2; RFC 8332; RFC 8709, 6) by a secure algorithm. */
export function isWireSigned(signed: Uint8Array, signature: Buffer, key: SshPublicKey): boolean {
  let algorithm: string;
  let value: Buffer;
  try {
    const reader = new WireReader(signature, "signature");
    [algorithm, value] = [reader.text(), reader.string()];
    reader.expectEnd();
  } catch (error) {
    if (error instanceof UnusableKey) return false;
    throw error;
  }
  if (key.type === "ssh-rsa") {
    const hash = RSA_HASHES.get(algorithm);
    return hash !== undefined && verify(hash, signed, key.key, value);
  }
  if (algorithm !== key.type) return false;
  if (key.type === "ssh-ed25519") return value.length === 64 && verify(null, signed, key.key, value);
  return isEcdsaSigned(signed, value, { type: key.type, key: key.key });
}

/** Verifies an ECDSA signature in SSH form (RFC 5656, 3.1.2). */
export function isEcdsaSigned(
  signed: Uint8Array,
  signature: Buffer,
  { type, key }: { readonly type: SshKeyType & EcdsaType; readonly key: KeyObject },
): boolean {
  const { hash, size } = ECDSA[type];
  const plain = fromWire(signature, size);
  return plain !== undefined && verify(hash, signed, { key, dsaEncoding: "ieee-p1363" }, plain);
}

function fromWire(signature: Buffer, size: number): Buffer | undefined {
  try {
    const reader = new WireReader(signature, "signature");
    const plain = join(reader.string(), reader.string(), size);
    reader.expectEnd();
    return plain;
  } catch (error) {
    if (error instanceof UnusableKey) return undefined;
    throw error;
  }
}

/** Joins two positive numbers as fixed-size fields. */
function join(r: Buffer, s: Buffer, size: number): Buffer | undefined {
  const field = (number: Buffer) => {
    const digits = number[0] === 0 ? number.subarray(1) : number;
    return digits.length > size ? undefined : Buffer.concat([Buffer.alloc(size - digits.length), digits]);
  };
  const [first, second] = [field(r), field(s)];
  return first && second && Buffer.concat([first, second]);
}
