import { X509Certificate } from "node:crypto";
import { pemBlocks } from "./pem.ts";

const LABELS: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);

/** Returns a PEM text's certificates in order, ignoring other blocks. */
export function certificatesOfPem(text: string): X509Certificate[] {
  return pemBlocks(text).filter(({ label }) => LABELS.has(label)).map(({ label, text: block }) => {
    // OpenSSL appends its own data to trusted certificates.
    if (label.startsWith("TRUSTED")) {
      throw new UnusableStore("expected plain certificates, not OpenSSL's TRUSTED CERTIFICATE");
    }
    return parse(() => Uint8Array.fromBase64(block.replace(/-----[^-]+-----/g, "").replace(/\s+/g, "")));
  }).toArray();
}

/** Parses a DER certificate. */
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

/** Reports whether bytes are PEM. */
export function isPem(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes).includes("-----BEGIN ");
}

/** Returns the subject on one line, or alternative names, for messages. */
export function subjectOf({ subject, subjectAltName }: X509Certificate): string {
  return (subject ?? subjectAltName ?? "a nameless one").split("\n").reverse().join(", ");
}

/** Error for an unusable certificate, key or store; names no secret. */
export class UnusableStore extends Error {}
