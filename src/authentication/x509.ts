import { Buffer } from "node:buffer";
import { createHash, type KeyObject, verify, X509Certificate } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import type { Credentials } from "../model/credentials.ts";
import { MOST_RSA_BITS, usableKeyOf } from "../model/trust/usable_key.ts";
import { BoundedMap } from "../model/bounded_map.ts";
import { isRevoked, referenceOf, type Revocation } from "../model/trust/revocation.ts";
import { isValidAt, validityOf } from "../model/trust/validity.ts";
import type { AuthenticationResult, Authenticator } from "./authenticator.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { isPersonalName } from "./personal_name.ts";

/** Whose certificates count. */
export interface X509Options {
  /** In the configured order, such as `X509`. */
  readonly name: string;
  /** Present if gateway support is on: clients then show their certificate to the gateway, which passes on their name. */
  readonly gateway?: {
    /** The gateway's certificate in use now, PEM; `undefined` if it is not known. */
    readonly certificate: () => string | undefined;
  };
  /** The server's own name; nobody else may go by it. */
  readonly serverName: () => string;
  readonly clock: Clock;
  /** What the authorities of clients have revoked as of now; absent: nobody asks. */
  readonly revocation: () => Revocation | undefined;
  /** See `Authenticator.derivedLifetime`. */
  readonly derivedLifetime: number | undefined;
}

/**
 * Recognises callers by the certificate they showed to this server, or to a gateway that vouches for it with its signature
 * (authentication.md 9.3). That the header comes from a gateway is the edge's to see to.
 */
export function x509(options: X509Options): Authenticator {
  return {
    name: options.name,
    challenges: [],
    looksAtCertificates: true,
    derivedLifetime: options.derivedLifetime,
    accountStatusOf: ({ credential = "" }) =>
      Promise.resolve({ kind: counts(credential, options) ? "cannot tell" : "gone" }),
    authenticate: (credentials) => Promise.resolve(judge(options, credentials)),
    close() {},
  };
}

function judge(
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
    credential = credentialOf(certificate.pem);
  } else {
    const claim = credentials.consignor === undefined ? undefined : parseConsignor(credentials.consignor);
    if (claim === undefined) {
      return credentials.consignor?.startsWith('DN="')
        ? { kind: "refused", reason: UNSIGNED }
        : { kind: "skipped" };
    }
    const certificate = gateway.certificate();
    const gatewayKey = certificate === undefined ? undefined : keyOfGateway(certificate, clock());
    if (gatewayKey === undefined) return { kind: "refused", reason: UNUSABLE };
    if (!isSignedBy(gatewayKey, claim)) {
      return { kind: "refused", reason: "the consignor is not signed by the gateway" };
    }
    dn = claim.dn;
  }
  if (!isPersonalName(dn, serverName())) return { kind: "refused", reason: "the subject names no caller" };
  try {
    checkIdentity(dn);
  } catch (error) {
    if (error instanceof NoIdentity) return { kind: "refused", reason: `subject: ${error.message}` };
    throw error;
  }
  return { kind: "accepted", identity: { dn, method: "X509", via: name, credential } };
}

/** What was made of certificates lately: a client shows its own with each request. */
const CREDENTIALS = new BoundedMap<string, string>(1000);

/** What is remembered of a certificate in what is derived from it: enough to tell later whether it still counts. */
function credentialOf(pem: string): string {
  const known = CREDENTIALS.get(pem);
  if (known !== undefined) return known;
  const certificate = new X509Certificate(pem);
  const { issuer, serial } = referenceOf(certificate);
  const credential = `${issuer}.${serial}.${Math.floor(validityOf(certificate).to / 1000)}`;
  CREDENTIALS.set(pem, credential);
  return credential;
}

/** Whether a certificate is in date and not revoked; one that a gateway was shown, the gateway alone knows. */
function counts(credential: string, { clock, revocation }: X509Options): boolean {
  const { issuer, serial, ends } =
    /^(?<issuer>[\w-]+)\.(?<serial>[0-9a-f]*)\.(?<ends>\d+)$/.exec(credential)?.groups ?? {};
  if (issuer === undefined || serial === undefined) return credential === "";
  const lists = revocation();
  return clock() <= Number(ends) * 1000 + 999 &&
    (lists === undefined || !isRevoked({ issuer, serial }, lists, clock()));
}

const UNUSABLE = "the gateway's certificate vouches for nobody, " +
  `expected one that is valid now, with an RSA key of at most ${MOST_RSA_BITS} bits`;

/** Whoever named somebody so would be anybody; and nobody would know why they are nobody, were it passed over. */
const UNSIGNED = "the gateway does not sign the names that it passes on, " +
  "expected gateway.signConsignorToken=true in its gateway.properties";

/** A name that a gateway vouches for. */
export interface Consignor {
  readonly dn: string;
  /** Base64. */
  readonly signature: string;
}

/**
 * Reads `DN="…";DSIG=…`, in either order. The gateway escapes nothing, so the name ends at the quote before `;DSIG=` or
 * the end.
 */
export function parseConsignor(header: string): Consignor | undefined {
  if (header.length > 8192) return undefined;
  const found = /^DN="(?<dn>.+)";\s?DSIG=(?<signature>[A-Za-z0-9+/]+=*)$/s.exec(header) ??
    /^DSIG=(?<signature>[A-Za-z0-9+/]+=*);\s?DN="(?<dn>.+)"$/s.exec(header);
  const { dn, signature } = found?.groups ?? {};
  return dn === undefined || signature === undefined ? undefined : { dn, signature };
}

/** The key with which the gateway vouches for names now; `undefined` if there is none that can be verified with. */
function keyOfGateway(certificate: string, now: number): KeyObject | undefined {
  const x509 = new X509Certificate(certificate);
  const key = usableKeyOf(x509);
  return isValidAt(validityOf(x509), now) && key?.asymmetricKeyType === "rsa" ? key : undefined;
}

/** `SHA1withRSA` over the SHA-1 of the name: hashed twice, and fixed by the gateways in use. */
function isSignedBy(gateway: KeyObject, { dn, signature }: Consignor): boolean {
  const digest = createHash("sha1").update(dn, "utf8").digest();
  return verify("sha1", digest, gateway, Buffer.from(signature, "base64"));
}
