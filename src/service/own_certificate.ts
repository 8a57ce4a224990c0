import { X509Certificate } from "node:crypto";
import { certificateSubject } from "../model/certificate_subject.ts";
import type { TlsMaterial } from "../model/tls_material.ts";

/** The service's certificate and whom it trusts, as they are now; they may be renewed while the service runs. */
export class OwnCertificate {
  #material: TlsMaterial | undefined;
  #certificate: X509Certificate | undefined;
  #trusted: readonly string[] = [];

  constructor(material: TlsMaterial | undefined) {
    if (material) this.renew(material);
  }

  renew(material: TlsMaterial): void {
    this.#certificate = new X509Certificate(material.certificate);
    this.#trusted = material.anchors.map((anchor) => certificateSubject(new X509Certificate(anchor)));
    this.#material = material;
  }

  /** @throws {TypeError} If there is none; the configuration makes sure that nobody who asks gets there. */
  readonly material = (): TlsMaterial => {
    if (this.#material === undefined) throw new TypeError("the service has no certificate");
    return this.#material;
  };

  /** Subject as RFC 2253 text without blanks. */
  readonly name = (): string | undefined => this.#certificate && certificateSubject(this.#certificate);

  readonly pem = (): string | undefined => this.#certificate?.toString();

  readonly facts = ():
    | { readonly dn: string; readonly issuer: string; readonly expires: number }
    | undefined =>
    this.#certificate && {
      dn: certificateSubject(this.#certificate),
      issuer: this.#certificate.issuer.split("\n").reverse().join(","),
      expires: Date.parse(this.#certificate.validTo),
    };

  /** Subjects of the trust anchors. */
  readonly trusted = (): readonly string[] => this.#trusted;
}
