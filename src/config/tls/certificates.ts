import { X509Certificate } from "node:crypto";
import { pemBlocks } from "./pem.ts";

const LABELS: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);

/** The certificates of a PEM text, in order; whatever else is there is passed over. */
export function certificatesOfPem(text: string): X509Certificate[] {
  return pemBlocks(text).filter(({ label }) => LABELS.has(label)).map(({ label, text: block }) => {
    // A trusted certificate has OpenSSL's own data behind it, which is no part of X.509.
    if (label.startsWith("TRUSTED")) {
      throw new UnusableStore("expected plain certificates, not OpenSSL's TRUSTED CERTIFICATE");
    }
    return parse(() => Uint8Array.fromBase64(block.replace(/-----[^-]+-----/g, "").replace(/\s+/g, "")));
  }).toArray();
}

/** One certificate in DER form. */
export function certificateOfDer(der: Uint8Array): X509Certificate {
  return parse(() => der);
}

function parse(der: () => Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der());
  } catch (cause) {
    throw new UnusableStore("expected an X.509 certificate, this one cannot be read", { cause });
  }
}

/** Whether bytes are the text of a PEM file. */
export function isPem(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes).includes("-----BEGIN ");
}

/** Subject on one line, for messages; the alternative names of a certificate without one. */
export function subjectOf({ subject, subjectAltName }: X509Certificate): string {
  return (subject ?? subjectAltName ?? "a nameless one").split("\n").reverse().join(", ");
}

/** Why a certificate, key or store cannot be used; the message says what was expected and names nothing secret. */
export class UnusableStore extends Error {
  override readonly name = "UnusableStore";
}
