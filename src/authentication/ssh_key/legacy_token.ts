import { Buffer } from "node:buffer";
import { createHash, verify } from "node:crypto";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import type { SshKeyType, SshPublicKey } from "./public_key.ts";
import { ECDSA, isEcdsaSigned } from "./wire_signature.ts";

/** Old Java clients' signature over bytes of their choice (authentication.md 3.8). */
interface LegacyToken {
  readonly user: string;
  readonly signed: Uint8Array;
  readonly signature: Buffer;
}

const MAX_SIGNED = 128; // most signed bytes: a SHA-1 digest, or a short text

/**
 * Parses a legacy signature, base64 in the place of the password; `undefined` for anything that old clients
 * do not sign: signed JWTs are excluded, so that an expired token cannot return as a legacy one.
 */
export function readLegacyToken(
  user: string,
  signature: string,
  signed: Uint8Array,
): LegacyToken | undefined {
  const bytes = Buffer.from(signature, "base64");
  if (bytes.length === 0 || bytes.length > 1024 || bytes.toString("base64") !== signature) return undefined;
  if (signed.length === 0 || signed.length > MAX_SIGNED) return undefined;
  const beginning = Buffer.from(signed.subarray(0, 6)).toString("latin1");
  if (beginning.startsWith("eyJ") || beginning === "SSHSIG") return undefined;
  return { user, signed, signature: bytes };
}

/** Returns the key type for the signature's length; P-256 for all curves. */
export function likelyKeyType({ signature }: LegacyToken): SshKeyType {
  if (signature.length === 64) return "ssh-ed25519";
  return signature.length >= 256 ? "ssh-rsa" : "ecdsa-sha2-nistp256";
}

/** Verifies the signature with the algorithm of old clients. */
export function isLegacySignedBy(
  { signed, signature }: LegacyToken,
  { type, key }: Pick<SshPublicKey, "type" | "key">,
): boolean {
  switch (type) {
    case "ssh-rsa":
      return verify("sha1", signed, key, signature);
    case "ssh-ed25519":
      return signature.length === 64 && verify(null, signed, key, signature);
    case "ecdsa-sha2-nistp256":
    case "ecdsa-sha2-nistp384":
    case "ecdsa-sha2-nistp521":
      // SSH form begins with 0; clients with key files sent DER.
      if (signature[0] === 0x30) return verify(ECDSA[type].hash, signed, key, signature);
      return isEcdsaSigned(signed, signature, { type, key });
  }
}

/** Binds legacy tokens, which state neither time nor audience, to the address of their first use for one hour. */
export class LegacyTokenUses {
  readonly #users = new BoundedMap<string, BoundedMap<string, { until: number; address: string }>>(1000);

  constructor(readonly elapsed: Stopwatch = stopwatch) {}

  admit({ user, signed }: LegacyToken, address: string): boolean {
    const tokens = this.#users.get(user) ?? new BoundedMap(1000);
    this.#users.set(user, tokens);
    const digest = createHash("sha256").update(signed).digest("base64");
    const use = tokens.get(digest);
    const now = this.elapsed();
    if (use !== undefined) return use.address === address && now < use.until;
    tokens.set(digest, { until: now + 3_600_000, address });
    return true;
  }
}
