import { Buffer } from "node:buffer";
import { createHash, verify } from "node:crypto";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import type { SshKeyType, SshPublicKey } from "./public_key.ts";
import { ECDSA, isEcdsaSigned } from "./wire_signature.ts";

/** What old Java clients send instead of a token: a signature over bytes of their choice (authentication.md 3.8). */
interface LegacyToken {
  readonly user: string;
  readonly signed: Uint8Array;
  readonly signature: Buffer;
}

/** Most bytes that clients of old let sign: a SHA-1 digest, or a short text. */
const MAX_SIGNED = 128;

/**
 * @param signature In base64, as it stands in the place of the password.
 * @returns `undefined` if it cannot be what a client made for this purpose. In particular what was signed as a token or
 * for another protocol is no legacy token, or an expired token could come back as one.
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

/** The type of key that makes signatures of this length; P-256 stands for all three curves. */
export function likelyKeyType({ signature }: LegacyToken): SshKeyType {
  if (signature.length === 64) return "ssh-ed25519";
  return signature.length >= 256 ? "ssh-rsa" : "ecdsa-sha2-nistp256";
}

/** Whether a key made the signature, with the one algorithm that old clients use for its type. */
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
      // Two numbers in SSH form begin with 0; key files gave DER, which does not.
      if (signature[0] === 0x30) return verify(ECDSA[type].hash, signed, key, signature);
      return isEcdsaSigned(signed, signature, { type, key });
  }
}

/**
 * Remembers which legacy tokens were used, since nothing in them says when and where they were meant to be. A client makes
 * one per run and shows it with each request; so it counts for an hour from its first use, for the address of that.
 */
export class LegacyTokenUses {
  readonly #users = new BoundedMap<string, BoundedMap<string, { until: number; address: string }>>(1000);

  constructor(readonly elapsed: Stopwatch = stopwatch) {}

  /** Whether a token that was verified may be used now and from there; if so, that is remembered. */
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
