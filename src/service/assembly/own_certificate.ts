import { X509Certificate } from "node:crypto";
import { certificateName } from "../../model/certificate_subject.ts";
import { validityOf } from "../../model/trust/validity.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";

/** What the status page says about the service's certificate. */
interface CertificateFacts {
  /** RFC 2253 text without blanks. */
  readonly dn: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** What there is to know about one version of the certificate; read once, since every request asks. */
interface Known {
  readonly material: TlsMaterial;
  readonly pem: string;
  readonly facts: CertificateFacts;
  readonly trusted: readonly string[];
}

/** The service's certificate and whom it trusts, as they are now; they may be renewed while the service runs. */
export class OwnCertificate {
  #known: Known | undefined;
  /** By server; the same object as long as nothing has changed, since much is kept by it. */
  readonly #daemons = new Map<string, TlsMaterial>();

  constructor(material: TlsMaterial | undefined) {
    if (material) this.renew(material);
  }

  renew(material: TlsMaterial): void {
    const certificate = new X509Certificate(material.certificate);
    this.#daemons.clear();
    this.#known = {
      material,
      pem: certificate.toString(),
      facts: {
        dn: certificateName(certificate),
        issuer: (certificate.issuer ?? "").split("\n").reverse().join(","),
        expires: validityOf(certificate).to,
      },
      trusted: material.anchors.map((anchor) => certificateName(anchor)),
    };
  }

  /** The same, with the certificates that are trusted to name the daemons of a server. */
  daemonMaterial(server: string): TlsMaterial {
    const material = this.material();
    const anchors = material.daemonAnchors?.[server];
    if (anchors === undefined) return material;
    const known = this.#daemons.get(server);
    if (known?.anchors === anchors) return known;
    const { revocation: _, ...others } = material;
    const revocation = material.daemonRevocation?.[server];
    const made = { ...others, anchors, revocation };
    this.#daemons.set(server, made);
    return made;
  }

  /** @throws {TypeError} If there is none; the configuration makes sure that nobody who asks gets there. */
  readonly material = (): TlsMaterial => {
    if (this.#known === undefined) throw new TypeError("the service has no certificate");
    return this.#known.material;
  };

  /** Subject as RFC 2253 text without blanks, or an alternative name in its place. */
  readonly name = (): string | undefined => this.#known?.facts.dn;

  readonly pem = (): string | undefined => this.#known?.pem;

  readonly facts = (): CertificateFacts | undefined => this.#known?.facts;

  /** Subjects of the trust anchors. */
  readonly trusted = (): readonly string[] => this.#known?.trusted ?? [];
}
