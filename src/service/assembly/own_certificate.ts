import { X509Certificate } from "node:crypto";
import { certificateName } from "../../model/certificate_subject.ts";
import { validityOf } from "../../model/trust/certificate_facts.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";

interface CertificateFacts {
  readonly dn: string; // RFC 2253 text without blanks
  readonly issuer: string;
  readonly starts: number; // milliseconds since the epoch
  readonly expires: number;
}

/** Own certificate and trust anchors, renewable at run time. */
export class OwnCertificate {
  #known: ReturnType<typeof parsed> | undefined; // parsed once per version, since every request reads it
  /** By server; the same object until a change, since caches use it as a key. */
  readonly #daemons = new Map<string, TlsMaterial>();

  constructor(material: TlsMaterial | undefined) {
    if (material) this.renew(material);
  }

  renew(material: TlsMaterial): void {
    this.#known = parsed(material);
    this.#daemons.clear();
  }

  /** Adds the anchors that may certify the daemons of a server. */
  daemonMaterial(server: string): TlsMaterial {
    const material = this.material();
    const trust = material.daemons?.[server];
    if (trust === undefined) return material;
    const known = this.#daemons.get(server);
    if (known?.anchors === trust.anchors) return known;
    const made = { ...material, revocation: undefined, ...trust };
    this.#daemons.set(server, made);
    return made;
  }

  /** @throws {TypeError} Without a certificate, which the configuration excludes for callers. */
  readonly material = (): TlsMaterial => {
    if (this.#known === undefined) throw new TypeError("the service has no certificate");
    return this.#known.material;
  };

  /** Subject as RFC 2253 text without blanks, or a subject alternative name. */
  readonly name = (): string | undefined => this.#known?.facts.dn;

  readonly pem = (): string | undefined => this.#known?.pem;

  readonly facts = (): CertificateFacts | undefined => this.#known?.facts;

  readonly trusted = (): readonly string[] => this.#known?.trusted ?? [];
}

function parsed(material: TlsMaterial) {
  const certificate = new X509Certificate(material.certificate);
  const facts: CertificateFacts = {
    dn: certificateName(certificate),
    issuer: (certificate.issuer ?? "").split("\n").reverse().join(","),
    starts: validityOf(certificate).from,
    expires: validityOf(certificate).to,
  };
  const trusted: readonly string[] = material.anchors.map((anchor) => certificateName(anchor));
  return { material, pem: certificate.toString(), facts, trusted };
}
