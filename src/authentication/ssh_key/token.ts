import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { checkClaims, InvalidToken, isSignedBy, parseSignedToken, textClaim } from "../signed_token.ts";
import type { SignedToken } from "../signed_token.ts";
import { BoundedMap } from "./bounded_map.ts";
import type { SshKeyType, SshPublicKey } from "./public_key.ts";

/** Algorithms that go with a type of key, and no others (authentication.md 3.7; `Ed25519`: RFC 9864). */
const ALGORITHMS: Readonly<Record<SshKeyType, readonly string[]>> = {
  "ssh-rsa": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  "ecdsa-sha2-nistp256": ["ES256"],
  "ecdsa-sha2-nistp384": ["ES384"],
  "ecdsa-sha2-nistp521": ["ES512"],
  "ssh-ed25519": ["EdDSA", "Ed25519"],
};

const KNOWN_ALGORITHMS = new Set(Object.values(ALGORITHMS).flat());

/** A token that a user made with an own key; who signed it is not verified yet. */
export interface SshToken extends SignedToken {
  readonly user: string;
}

/**
 * Reads a client's token and checks all but its signature.
 * @throws {InvalidToken}
 */
export function readSshToken(
  text: string,
  rules: { readonly now: number; readonly audience: string; readonly maxLifetime: number },
): SshToken {
  const token = parseSignedToken(text);
  if (!KNOWN_ALGORITHMS.has(token.algorithm)) throw new InvalidToken("algorithm not accepted");
  const user = textClaim(token, "sub");
  if (textClaim(token, "iss") !== user) throw new InvalidToken("sub and iss differ");
  const delegated = token.claims.get("etd") ?? false;
  if (delegated !== false && String(delegated).toLowerCase() !== "false") {
    throw new InvalidToken("claims to be an issued token");
  }
  checkClaims(token, rules);
  return { ...token, user };
}

/**
 * Verifies signatures of tokens, each one once: clients show the same token for minutes. What is remembered is that a
 * signature is right, not that a key is allowed, so a change of keys takes effect at once. Failures are not remembered.
 */
export class TokenVerifier {
  readonly #verified = new BoundedMap<string, true>(20_000);
  readonly #running = new Map<string, Promise<boolean>>();

  async isSignedBy(token: SshToken, { type, key, fingerprint }: SshPublicKey): Promise<boolean> {
    if (!ALGORITHMS[type].includes(token.algorithm)) return false;
    const id = `${createHash("sha256").update(token.text).digest("base64")} ${fingerprint}`;
    if (this.#verified.get(id)) return true;
    let running = this.#running.get(id);
    if (running === undefined) {
      running = isSignedBy(token, key).finally(() => this.#running.delete(id));
      this.#running.set(id, running);
    }
    const right = await running;
    if (right) this.#verified.set(id, true);
    return right;
  }
}

/** Whether a key is of the type that makes signatures of this algorithm. */
export function fits({ type }: SshPublicKey, { algorithm }: SshToken): boolean {
  return ALGORITHMS[type].includes(algorithm);
}

/**
 * Does the work of verifying a token under a key that nobody has, so that an unknown user takes as long as a known one
 * with another key.
 */
export async function verifyInVain(token: SshToken): Promise<void> {
  await isSignedBy(token, nobodysKey(token.algorithm));
}

const NOBODYS_KEYS = new Map<string, KeyObject>();

function nobodysKey(algorithm: string): KeyObject {
  const kind = algorithm.startsWith("Ed") ? "Ed" : algorithm.startsWith("ES") ? algorithm : "RSA";
  let key = NOBODYS_KEYS.get(kind);
  if (key === undefined) {
    key = makeNobodysKey(kind);
    NOBODYS_KEYS.set(kind, key);
  }
  return key;
}

function makeNobodysKey(kind: string): KeyObject {
  switch (kind) {
    case "Ed":
      return generateKeyPairSync("ed25519").publicKey;
    case "ES256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
    case "ES384":
      return generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
    case "ES512":
      return generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey;
    default: {
      // Any odd number of the usual 3072 bits costs what a product of two primes does, and is made at once.
      const modulus = randomBytes(384);
      modulus[0] = 0x80 | (modulus[0] ?? 0);
      modulus[383] = 1 | (modulus[383] ?? 0);
      const key = { kty: "RSA", e: "AQAB", n: modulus.toString("base64url") };
      return createPublicKey({ key, format: "jwk" });
    }
  }
}
