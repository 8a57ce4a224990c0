import type { TlsMaterial } from "../../model/tls_material.ts";
import { type Issuer, issuerOf } from "./issuer.ts";

/** This server as an issuer, with its current certificate only. */
export class OwnIssuer {
  #last: { certificate: string; issuer: Issuer } | undefined;

  constructor(readonly tls: () => TlsMaterial) {}

  get current(): Issuer {
    const { certificate } = this.tls();
    if (this.#last?.certificate !== certificate) {
      this.#last = { certificate, issuer: issuerOf(certificate) };
    }
    return this.#last.issuer;
  }
}
