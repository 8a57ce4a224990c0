import { hash, X509Certificate } from "node:crypto";
import type { Credentials } from "../../model/credentials.ts";
import type { Clock } from "../../model/clock.ts";
import { sameSecret } from "../../model/same_secret.ts";
import type { ReplayCache } from "../../model/replay_cache.ts";
import { isJsonObject } from "../json_object.ts";
import { InvalidToken } from "../signed_token.ts";
import { verifyProof } from "./dpop_proof.ts";

/** To whom a token is bound (RFC 7800, 3.1); without any member it is a bearer token. */
export interface Confirmation {
  /** Thumbprint of the key that proves possession (RFC 9449, 6.1). */
  readonly jkt?: string;
  /** SHA-256 of the client's certificate (RFC 8705, 3.1), in base64url. */
  readonly certificate?: string;
}

/** What else a token may be bound by (RFC 7800, 3; RFC 8747, 3), and is not verified here. */
const OTHER_BINDINGS: ReadonlySet<string> = new Set(["jwk", "jwe", "kid", "jku", "x5c", "x5u", "osc"]);

/**
 * Reads `cnf` of a token or of what a provider says about one. Beside a binding that is verified, members that bind nothing
 * are left alone (RFC 7800, 3.1), as Keycloak's `kc-jkt-type` is.
 * @throws {InvalidToken} If it binds the token in a way that is not verified here, or cannot be read.
 */
export function readConfirmation(cnf: unknown): Confirmation {
  if (cnf === undefined) return {};
  // Of a provider's answer a map, which is a JSON object to the other question.
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

/** For the log. */
const UNVERIFIED = "it is bound in a way that is not verified here";

/** SHA-256 in base64url. */
function thumbprintOf(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
  throw new InvalidToken("its cnf cannot be read");
}

/** Sees to it that who shows a bound token is whom it is bound to. */
export class PossessionCheck {
  /** @param proofs Those that were shown, by their users: keys cost nothing. */
  constructor(readonly clock: Clock, readonly proofs: ReplayCache) {}

  /**
   * Holds what a request shows against what the token is bound to (RFC 9449, 7; RFC 8705, 3).
   * @param user Name of the token's user, who pays for what is remembered.
   * @throws {InvalidToken}
   */
  async check(user: string, { jkt, certificate }: Confirmation, credentials: Credentials): Promise<void> {
    const { authorization } = credentials;
    if (authorization.kind !== "bearer") throw new InvalidToken("no token");
    if (certificate !== undefined) checkCertificate(certificate, credentials);
    if (authorization.scheme === undefined) {
      // RFC 9449, 7.2: whoever got hold of a bound token must not use it as if it were not.
      if (jkt !== undefined) throw new InvalidToken("it is bound to a key, and no proof was shown");
      return;
    }
    if (jkt === undefined) throw new InvalidToken("it is not bound to the key of the proof");
    const { proof } = credentials;
    if (proof === undefined) throw new InvalidToken("no proof of possession was shown");
    const token = authorization.token.reveal();
    const { thumbprint, id, endsAt } = await verifyProof(proof.text, {
      token,
      method: proof.method,
      url: proof.url,
      now: this.clock(),
    });
    if (!sameSecret(thumbprint, jkt)) {
      throw new InvalidToken("it is bound to another key than the proof shows");
    }
    const mark = hash("sha256", `${jkt} ${id}`, "base64");
    if (!this.proofs.note({ owner: user, mark, endsAt })) {
      throw new InvalidToken("the proof was shown before");
    }
  }
}

function checkCertificate(thumbprint: string, { certificate }: Credentials): void {
  if (certificate === undefined) {
    throw new InvalidToken("it is bound to a certificate, and the client showed none");
  }
  const shown = hash("sha256", new X509Certificate(certificate.pem).raw, "base64url");
  if (!sameSecret(shown, thumbprint)) {
    throw new InvalidToken("it is bound to another certificate than the client's");
  }
}
