import { hash, X509Certificate } from "node:crypto";
import type { Credentials } from "../../model/credentials.ts";
import type { Clock } from "../../model/clock.ts";
import { sameSecret } from "../../model/secret.ts";
import type { ReplayRecord } from "../../model/replay_cache.ts";
import { isJsonObject } from "../json_object.ts";
import { InvalidToken } from "../signed_token.ts";
import { verifyProof } from "./dpop_proof.ts";

/** Binding of a token (RFC 7800, 3.1); empty for a bearer token. */
export interface Confirmation {
  readonly jkt?: string; // key thumbprint (RFC 9449, 6.1)
  readonly certificate?: string; // certificate's SHA-256 in base64url (RFC 8705, 3.1)
}

/** Bindings not supported here (RFC 7800, 3; RFC 8747, 3). */
const OTHER_BINDINGS: ReadonlySet<string> = new Set(["jwk", "jwe", "kid", "jku", "x5c", "x5u", "osc"]);

/**
 * Parses `cnf`. Unbinding members, such as `kc-jkt-type`, are ignored beside a supported one (RFC 7800, 3.1).
 * @throws {InvalidToken}
 */
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
  /** @param proofs Per user, since keys are free to make. */
  constructor(readonly clock: Clock, readonly proofs: ReplayRecord) {}

  /** Checks a request against the token's binding (RFC 9449, 7; RFC 8705, 3). @throws {InvalidToken} */
  async check(user: string, { jkt, certificate }: Confirmation, credentials: Credentials): Promise<void> {
    const { authorization } = credentials;
    if (authorization.kind !== "bearer") throw new InvalidToken("no token");
    if (certificate !== undefined) checkCertificate(certificate, credentials);
    if (authorization.scheme === undefined) {
      // RFC 9449, 7.2: a stolen bound token must not work as a bearer token.
      if (jkt !== undefined) throw unproved("it is bound to a key, and no proof was shown");
      return;
    }
    if (jkt === undefined) throw unproved("it is not bound to the key of the proof");
    const { proof } = credentials;
    if (proof === undefined) throw unproved("no proof of possession was shown");
    const token = authorization.token.reveal();
    const { thumbprint, id, endsAt } = await verifyProof(proof.text, {
      token,
      method: proof.method,
      url: proof.url,
      now: this.clock(),
    });
    if (!sameSecret(thumbprint, jkt)) {
      throw unproved("it is bound to another key than the proof shows");
    }
    const mark = hash("sha256", `${jkt} ${id}`, "base64");
    if (!await this.proofs.note({ owner: user, mark, endsAt })) {
      throw unproved("the proof was shown before");
    }
  }
}

function unproved(reason: string): InvalidToken {
  return new InvalidToken(reason, { advice: "proof" });
}

function checkCertificate(
  thumbprint: string,
  { certificate, unusableCertificate, untrustedCertificate }: Credentials,
): void {
  if (certificate === undefined) {
    const why = unusableCertificate ?? untrustedCertificate;
    const shown = why === undefined ? "the client showed none" : `that of the client does not count: ${why}`;
    throw unproved(`it is bound to a certificate, and ${shown}`);
  }
  const shown = hash("sha256", new X509Certificate(certificate.pem).raw, "base64url");
  if (!sameSecret(shown, thumbprint)) {
    throw unproved("it is bound to another certificate than the client's");
  }
}
