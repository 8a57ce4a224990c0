import { hash, X509Certificate } from "node:crypto";
import { calculateJwkThumbprint, compactVerify, errors, importJWK, type JWK } from "jose";
import {
  CLOCK_TOLERANCE,
  InvalidToken,
  readForeignToken,
  SECRET_MEMBERS,
  SIGNATURE_ALGORITHMS,
} from "../signed_token.ts";
import { isJsonObject } from "../../model/json_object.ts";
import type { Credentials } from "../../model/credentials.ts";
import type { Clock } from "../../model/clock.ts";
import { sameSecret } from "../../model/secret.ts";
import type { ReplayRecord } from "../../model/replay_cache.ts";

const MAX_LENGTH = 4096; // characters
const MAX_ID = 512; // characters
const MAX_AGE = 120; // seconds (RFC 9449, 11.1)

interface ProvenRequest {
  readonly token: string;
  readonly method: string;
  readonly url: string; // absolute, as clients see it
  readonly now: number;
}

/** Verifies a DPoP proof (RFC 9449, 4.3), except for replay and the token's binding. @throws {InvalidToken} */
export async function verifyProof(proof: string, request: ProvenRequest) {
  if (proof.length > MAX_LENGTH) throw refused("is too long");
  const parsed = readForeignToken(proof);
  if (parsed === undefined) throw refused("is no signed JWT");
  const { header, claims, algorithm } = parsed;
  const type = header.get("typ");
  if (typeof type !== "string" || type.toLowerCase() !== "dpop+jwt") throw refused("is of another type");
  if (!SIGNATURE_ALGORITHMS.includes(algorithm)) {
    throw refused("is signed by an algorithm that is not allowed");
  }
  if (["crit", "b64", "zip", "enc"].some((member) => header.has(member))) {
    throw refused("has a header with unexpected members");
  }
  const key = publicKey(header.get("jwk"));
  const { id, issued } = checkClaims(claims, request);
  const thumbprint = await checkSignature(proof, algorithm, key); // as in `jkt` (RFC 7638)
  return { thumbprint, id, endsAt: (issued + MAX_AGE) * 1000 };
}

function checkClaims(claims: ReadonlyMap<string, unknown>, { token, method, url, now }: ProvenRequest) {
  const [id, issued] = [claims.get("jti"), claims.get("iat")];
  if (typeof id !== "string" || id === "" || id.length > MAX_ID) throw refused("has no jti that can be used");
  if (claims.get("htm") !== method) throw refused("is for another method");
  const target = claims.get("htu");
  if (typeof target !== "string" || withoutQuery(target) !== withoutQuery(url)) {
    throw refused("is for another address");
  }
  if (typeof issued !== "number" || !Number.isFinite(issued)) throw refused("has no time");
  const age = now / 1000 - issued;
  if (age > MAX_AGE) throw refused("is too old");
  if (age < -CLOCK_TOLERANCE) throw refused("is from the future");
  if (claims.get("ath") !== hash("sha256", token, "base64url")) throw refused("is for another token");
  return { id, issued };
}

/** Strips query and fragment and normalises (RFC 9449, 4.3, item 9; RFC 3986, 6.2.2 and 6.2.3). */
function withoutQuery(address: string): string | undefined {
  const url = URL.parse(address);
  const path = url?.pathname.replace(/%[\dA-Fa-f]{2}/g, (octet) => {
    const character = String.fromCharCode(parseInt(octet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : octet.toUpperCase(); // only unreserved ones mean the same
  });
  return url === null ? undefined : url.origin + path;
}

function publicKey(jwk: unknown): JWK {
  if (!isJsonObject(jwk) || typeof jwk.kty !== "string") throw refused("holds no key");
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member))) throw refused("holds a secret key");
  return { ...jwk, kty: jwk.kty };
}

async function checkSignature(proof: string, alg: string, jwk: JWK): Promise<string> {
  try {
    const { kty, n, e, crv, x, y } = jwk;
    await compactVerify(proof, await importJWK({ kty, n, e, crv, x, y }, alg), { algorithms: [alg] });
    return await calculateJwkThumbprint(jwk, "sha256");
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
      throw refused("is not signed by the key in it");
    }
    throw error;
  }
}

function refused(why: string): InvalidToken {
  return new InvalidToken(`the proof of possession ${why}`);
}

/** Binding of a token (RFC 7800, 3.1); empty for a bearer token. */
export interface Confirmation {
  readonly jkt?: string; // key thumbprint (RFC 9449, 6.1)
  readonly certificate?: string; // certificate's SHA-256 in base64url (RFC 8705, 3.1)
}

/** Bindings not supported here (RFC 7800, 3; RFC 8747, 3). */
const OTHER_BINDINGS: ReadonlySet<string> = new Set(["jwk", "jwe", "kid", "jku", "x5c", "x5u", "osc"]);

/** Parses `cnf`. Unbinding members, such as `kc-jkt-type`, are ignored beside a supported one (RFC 7800, 3.1). @throws {InvalidToken} */
export function readConfirmation(cnf: unknown): Confirmation {
  if (cnf === undefined) return {};
  // A map in userinfo, an object in tokens.
  const members = cnf instanceof Map ? [...cnf] : isJsonObject(cnf) ? Object.entries(cnf) : undefined;
  if (members === undefined || members.length === 0) throw new InvalidToken("its cnf cannot be read");
  const confirmation: { jkt?: string; certificate?: string } = {};
  for (const [name, value] of members) {
    if (OTHER_BINDINGS.has(name)) throw new InvalidToken(UNVERIFIED);
    if (name === "jkt") confirmation.jkt = thumbprintOf(value);
    if (name === "x5t#S256") confirmation.certificate = thumbprintOf(value);
  }
  if (Object.keys(confirmation).length === 0) throw new InvalidToken(UNVERIFIED);
  return confirmation;
}

const UNVERIFIED = "it is bound in a way that is not verified here";

function thumbprintOf(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
  throw new InvalidToken("its cnf cannot be read");
}

/** Verifies possession of a bound token's key. */
export class PossessionCheck {
  /** @param proofs Presented proofs, limited per user, since anybody can make keys. */
  constructor(readonly clock: Clock, readonly proofs: ReplayRecord) {}

  /** Checks a request against the token's binding (RFC 9449, 7; RFC 8705, 3). @throws {InvalidToken} */
  async check(user: string, { jkt, certificate }: Confirmation, credentials: Credentials): Promise<void> {
    const { authorization } = credentials;
    if (authorization.kind !== "bearer") throw new InvalidToken("no token");
    if (certificate !== undefined) checkCertificate(certificate, credentials);
    if (authorization.scheme === undefined) {
      // RFC 9449, 7.2: a stolen bound token must not work as a bearer token.
      if (jkt !== undefined) throw unproven("it is bound to a key, and no proof was shown");
      return;
    }
    if (jkt === undefined) throw unproven("it is not bound to the key of the proof");
    const { proof } = credentials;
    if (proof === undefined) throw unproven("no proof of possession was shown");
    const token = authorization.token.reveal();
    const { text, ...request } = proof;
    const { thumbprint, id, endsAt } = await verifyProof(text, { ...request, token, now: this.clock() });
    if (!sameSecret(thumbprint, jkt)) throw unproven("it is bound to another key than the proof shows");
    const key = hash("sha256", `${jkt} ${id}`, "base64");
    if (!await this.proofs.note({ owner: user, key, endsAt })) throw unproven("the proof was shown before");
  }
}

function unproven(reason: string): InvalidToken {
  return new InvalidToken(reason, { advice: "proof" });
}

function checkCertificate(
  thumbprint: string,
  { certificate, unusableCertificate, untrustedCertificate }: Credentials,
): void {
  if (certificate === undefined) {
    const why = unusableCertificate ?? untrustedCertificate;
    const cause = why === undefined ? "the client showed none" : `that of the client does not count: ${why}`;
    throw unproven(`it is bound to a certificate, and ${cause}`);
  }
  const digest = hash("sha256", new X509Certificate(certificate.pem).raw, "base64url");
  if (!sameSecret(digest, thumbprint)) throw unproven("it is bound to another certificate than the client's");
}
