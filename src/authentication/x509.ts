import { Buffer } from "node:buffer";
import { createHash, verify, X509Certificate } from "node:crypto";
import { attempt } from "../model/attempt.ts";
import type { Credentials } from "../model/credentials.ts";
import { isValidAt, MAX_RSA_BITS, usableKeyOf, validityOf } from "../model/trust/certificate_facts.ts";
import { isStillValid } from "../model/trust/certificate_path.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";
import type { AuthenticatorParts } from "./authenticator_kind.ts";
import { checkIdentity, isPersonalName, NoIdentity } from "./check_identity.ts";

export interface X509Options
  extends Pick<AuthenticatorParts, "gateway" | "serverName" | "clock" | "clientTrust"> {
  readonly name: string;
  readonly derivedLifetime: number | undefined; // see `Authenticator.derivedLifetime`
}

/**
 * Authenticates by TLS client certificate, or by a name that a gateway signed (credentials.md 9.3). The
 * edge ensures that the header comes from a gateway.
 */
export function x509(options: X509Options): Authenticator {
  return {
    name: options.name,
    challenges: [],
    acceptsCertificates: true,
    derivedLifetime: options.derivedLifetime,
    accountStatusOf({ credential }) {
      const trust = { ...options.clientTrust(), at: options.clock() };
      const counts = credential === undefined || isStillValid(credential, trust); // a name from a gateway has none
      return Promise.resolve({ kind: counts ? "cannot tell" : "gone" });
    },
    authenticate: (credentials) => Promise.resolve(evaluate(options, credentials)),
    close() {},
  };
}

function evaluate(
  { name, gateway, serverName, clock }: X509Options,
  credentials: Credentials,
): AuthenticationResult {
  let dn: string;
  let credential: string | undefined;
  if (gateway === undefined) {
    const { certificate, unusableCertificate: reason } = credentials;
    if (certificate === undefined) {
      return reason === undefined ? { kind: "skipped" } : { kind: "refused", reason };
    }
    dn = certificate.subject;
    credential = certificate.path;
  } else {
    const claim = credentials.consignor === undefined ? undefined : parseConsignor(credentials.consignor);
    if (claim === undefined) {
      return credentials.consignor?.startsWith('DN="')
        ? { kind: "refused", reason: UNSIGNED }
        : { kind: "skipped" };
    }
    const own = gateway.certificate === undefined ? undefined : new X509Certificate(gateway.certificate);
    const key = own && isValidAt(validityOf(own), clock()) ? usableKeyOf(own) : undefined;
    if (key?.asymmetricKeyType !== "rsa") return { kind: "refused", reason: UNUSABLE };
    // `SHA1withRSA` over the SHA-1 of the name: a double hash, fixed by deployed gateways.
    const digest = createHash("sha1").update(claim.dn, "utf8").digest();
    if (!verify("sha1", digest, key, Buffer.from(claim.signature, "base64"))) {
      return { kind: "refused", reason: "the consignor is not signed by the gateway" };
    }
    dn = claim.dn;
  }
  if (!isPersonalName(dn, serverName())) return { kind: "refused", reason: "the subject names no caller" };
  return attempt(
    () => ({ kind: "accepted", identity: { dn: checkIdentity(dn), method: "X509", via: name, credential } }),
    NoIdentity,
    ({ message }) => ({ kind: "refused", reason: `subject: ${message}` }),
  );
}

const UNUSABLE = "the gateway's certificate vouches for nobody, " +
  `expected one that is valid now, with an RSA key of at most ${MAX_RSA_BITS} bits`;

/** Reason to refuse an unsigned name, which anybody could have sent. */
const UNSIGNED = "the gateway does not sign the names that it passes on, " +
  "expected gateway.signConsignorToken=true in its gateway.properties";

/** Name from a gateway. */
export interface Consignor {
  readonly dn: string;
  readonly signature: string; // Base64
}

/** Parses `DN="…";DSIG=…` in either order. The DN, unescaped, ends at the quote before `;DSIG=` or the end. */
export function parseConsignor(header: string): Consignor | undefined {
  if (header.length > 8192) return undefined;
  const found = /^DN="(?<dn>.+)";\s?DSIG=(?<signature>[A-Za-z0-9+/]+=*)$/s.exec(header) ??
    /^DSIG=(?<signature>[A-Za-z0-9+/]+=*);\s?DN="(?<dn>.+)"$/s.exec(header);
  const { dn, signature } = found?.groups ?? {};
  return dn === undefined || signature === undefined ? undefined : { dn, signature };
}
