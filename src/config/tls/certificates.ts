import { X509Certificate } from "node:crypto";

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

/** Parses a DER certificate. @throws {UnusableStore} */
export function certificateOfDer(der: Uint8Array): X509Certificate {
  return parse(() => der);
}

/** Parses PEM certificates, or one in DER. @throws {UnusableStore} Without a certificate. */
export function certificatesIn(bytes: Uint8Array): [X509Certificate, ...X509Certificate[]] {
  if (!isPem(bytes)) return [certificateOfDer(bytes)];
  const text = new TextDecoder().decode(bytes);
  const [first, ...others] = certificatesOfPem(text);
  if (first !== undefined) return [first, ...others];
  const labels = pemBlocks(text).map(({ label }) => label).toArray().join(", ") || "no whole PEM block";
  throw new UnusableStore(`expected a certificate in PEM or DER form, this file has ${labels}`);
}

function parse(der: () => Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der());
  } catch (cause) {
    throw new UnusableStore("expected an X.509 certificate, this one cannot be read", { cause });
  }
}

/** Reports whether bytes contain a PEM block, perhaps behind other text. */
export function isPem(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes).includes("-----BEGIN ");
}

/** Returns the subject on one line, or alternative names, for messages. */
export function subjectOf({ subject, subjectAltName }: X509Certificate): string {
  return (subject ?? subjectAltName ?? "a nameless one").split("\n").reverse().join(", ");
}

/** Error for an unusable certificate, key or store; names no secret. */
export class UnusableStore extends Error {}

const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/** Yields PEM blocks with their labels, such as `CERTIFICATE`, in order in one pass, ignoring other text and blocks with mismatched labels. */
export function* pemBlocks(text: string) {
  let end = -1;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const start = at;
    at += BEGIN.length;
    const stop = text.indexOf(DASHES, at);
    // Keep the end for several beginnings, to stay linear.
    if (end < at) end = text.indexOf(END, at);
    if (stop < 0 || end < 0) return;
    const label = text.slice(at, stop);
    const last = `${END}${label}${DASHES}`;
    if (!text.startsWith(last, end)) continue;
    at = end + last.length;
    yield { label, text: text.slice(start, at) };
  }
}
