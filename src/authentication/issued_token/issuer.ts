import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { certificateName } from "../../model/certificate_subject.ts";
import {
  algorithmsOf,
  USABLE_KEYS,
  usableKeyOf,
  type Validity,
  validityOf,
} from "../../model/trust/certificate_facts.ts";
import { ISSUED_TOKENS, type UserSource } from "../account_status.ts";
import { credentialFingerprint } from "../credential_fingerprint.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";

/** Issuing server, from its certificate. */
export interface Issuer {
  readonly name: string; // subject, as in `iss`
  readonly canonicalName: string;
  readonly key: KeyObject;
  readonly fingerprint: string; // SHA-256 of the public key
  /** Names of the key's algorithm, the first for signing; empty if unsuitable. */
  readonly algorithms: readonly string[];
  readonly validity: Validity;
}

/** @param certificate PEM. @throws {TypeError} If it is invalid or its key is unsupported. */
export function issuerOf(certificate: string): Issuer {
  const x509 = readCertificate(certificate);
  const name = certificateName(x509);
  const key = usableKeyOf(x509);
  if (key === undefined) throw new TypeError(`the key of ${name} signs no tokens: expected ${USABLE_KEYS}`);
  return {
    name,
    canonicalName: canonicalDn(name),
    key,
    fingerprint: createHash("sha256").update(key.export({ type: "spki", format: "der" })).digest("base64"),
    algorithms: algorithmsOf(key),
    validity: validityOf(x509),
  };
}

/** Returns a trusted issuer from PEM. @throws {TypeError} If it is invalid or its key cannot sign tokens. */
export function trustedIssuerOf(certificate: string): Issuer {
  const issuer = issuerOf(certificate);
  if (issuer.algorithms.length > 0) return issuer;
  throw new TypeError(`the key of ${issuer.name} signs no tokens: expected ${USABLE_KEYS}`);
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new TypeError("not a certificate in PEM form", { cause });
  }
}

/** Returns the name of the {@link UserSource} for users in tokens that another service signed. */
export function sourceOf(key: Issuer | string): string {
  const fingerprint = typeof key === "string" ? credentialFingerprint(key, ISSUED_TOKENS) : key.fingerprint;
  return `${ISSUED_TOKENS}:${fingerprint}`;
}

/**
 * Returns a source for each key of other services: what derives from a token ends when its key is no longer trusted.
 * Old tokens and shares name no key: they end with the last one.
 */
export function issuerSources(trusted: readonly string[], hmacSecret?: string): readonly UserSource[] {
  const keys = [...trusted.map(trustedIssuerOf), ...hmacSecret ? [hmacSecret] : []].map(sourceOf);
  return (keys.length === 0 ? [] : [ISSUED_TOKENS, ...keys]).map((name) => ({
    name,
    accountStatusOf: ({ via }) => Promise.resolve({ kind: via === name ? "cannot tell" : "gone" }),
  }));
}

/** This server as an issuer, with its current certificate only. */
export class OwnIssuer {
  #last: { certificate: string; issuer: Issuer } | undefined;

  constructor(readonly tls: () => TlsMaterial) {}

  get current(): Issuer {
    const { certificate } = this.tls();
    if (this.#last?.certificate !== certificate) this.#last = { certificate, issuer: issuerOf(certificate) };
    return this.#last.issuer;
  }
}
