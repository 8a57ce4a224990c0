import { Buffer } from "node:buffer";
import { createHash, verify } from "node:crypto";
import { type AuthorizedKey, unmetCondition } from "./authorized_keys.ts";
import type { RevokedKeys } from "./certificate/revoked_keys.ts";
import { ECDSA, isEcdsaSigned, type SshKeyType, type SshPublicKey } from "./public_key.ts";
import {
  checkClaims,
  InvalidToken,
  type LifetimeLimit,
  parseSignedToken,
  textClaim,
} from "../signed_token.ts";
import { decodeBase64 } from "../../model/base64.ts";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { BoundedMap } from "../../model/bounded_map.ts";

/** Proof of a key's possession by a claimed user. */
export interface Proof {
  readonly user: string;
  readonly made?: number; // creation time in seconds since the epoch; absent: not stated, or in the future
  fits(key: SshPublicKey): boolean;
  isMadeBy(key: SshPublicKey): Promise<boolean>;
  verifyDecoy(): Promise<unknown>; // does the work of a verification
  admit?(): string | undefined; // returns why a verified proof may not be used
}

/** Search for the key of a proof. */
export class KeyTrial {
  #worked = false;
  reason = "no key of the user made the signature";

  constructor(
    readonly proof: Proof,
    readonly clientAddress: string,
    readonly now: number,
    readonly revoked: RevokedKeys | undefined,
  ) {}

  /** Returns the first key that verifies the proof and meets its conditions. */
  async find<K extends AuthorizedKey>(keys: readonly K[]): Promise<K | undefined> {
    for (const key of keys) {
      if (key.issues !== undefined || !this.proof.fits(key.publicKey)) continue;
      this.#worked = true;
      if (!await this.proof.isMadeBy(key.publicKey)) continue;
      const isRevoked = this.revoked?.revokesKey(key.publicKey);
      const reason = isRevoked ? "the key was revoked" : unmetCondition(key, this);
      if (reason === undefined) return key;
      this.reason = reason;
    }
    return undefined;
  }

  /** Does the work of one verification if no key was tried. */
  async finish(): Promise<void> {
    if (!this.#worked) await this.proof.verifyDecoy();
  }
}

/** Key types by algorithm (credentials.md 3.7; `Ed25519`: RFC 9864). */
const KEY_TYPES: ReadonlyMap<string, SshKeyType> = new Map<string, SshKeyType>([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((name) => [name, "ssh-rsa"] as const),
  ["ES256", "ecdsa-sha2-nistp256"],
  ["ES384", "ecdsa-sha2-nistp384"],
  ["ES512", "ecdsa-sha2-nistp521"],
  ["EdDSA", "ssh-ed25519"],
  ["Ed25519", "ssh-ed25519"],
]);

/** Parses a client's token and checks all but its signature. @throws {InvalidToken} */
export function readSshToken(
  text: string,
  rules: { readonly now: number; readonly audience: string; readonly maxLifetime: LifetimeLimit },
) {
  const token = parseSignedToken(text);
  const keyType = KEY_TYPES.get(token.algorithm);
  if (keyType === undefined) throw new InvalidToken("algorithm not accepted");
  const user = textClaim(token, "sub");
  if (textClaim(token, "iss") !== user) throw new InvalidToken("sub and iss differ");
  const delegated = token.claims.get("etd") ?? false;
  if (delegated !== false && String(delegated).toLowerCase() !== "false") {
    throw new InvalidToken("claims to be an issued token");
  }
  checkClaims(token, rules);
  return { ...token, user, keyType };
}

/** Old Java clients' signature over bytes of their choice (credentials.md 3.8). */
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
  const bytes = decodeBase64(signature);
  if (!bytes?.length || bytes.length > 1024) return undefined;
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
    const tokens = this.#users.getOrInsertComputed(user, () => new BoundedMap(1000));
    const digest = createHash("sha256").update(signed).digest("base64");
    const use = tokens.get(digest);
    const now = this.elapsed();
    if (use !== undefined) return use.address === address && now < use.until;
    tokens.set(digest, { until: now + 3_600_000, address });
    return true;
  }
}
