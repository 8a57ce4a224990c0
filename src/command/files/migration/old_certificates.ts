import { attempt } from "../../../model/attempt.ts";
import { X509Certificate } from "node:crypto";
import type { Properties } from "../../../config/properties.ts";
import { readPkcs12 } from "../../../config/tls/pkcs12_certificates.ts";
import { pemBlocks, UnusableStore } from "../../../config/tls/certificates.ts";
import { certificateName } from "../../../model/certificate_subject.ts";
import { readElement } from "../../../model/der_element.ts";
import type { ConfigurationFile } from "./java_installation.ts";

/** Returns file and name of X.509 version 1 certificates: a handshake with them proves nothing. `check` finds the rest. */
export function oldCertificates(files: readonly ConfigurationFile[], old: Properties): readonly string[] {
  const passwords = passwordsIn(old);
  return files.flatMap(({ path, content }) =>
    certificatesIn(content, passwords)
      .filter(({ raw }) => readElement(raw).child(0).child(0).tag !== 0xa0) // no version field: RFC 5280, 4.1
      .map((certificate) => `${path}: ${certificateName(certificate)}`)
  );
}

/** Reads PEM, DER, and PKCS#12 that one of the passwords opens. */
function certificatesIn(content: Uint8Array, passwords: readonly string[]): X509Certificate[] {
  const text = new TextDecoder().decode(content);
  if (text.includes("-----BEGIN ")) {
    return [...pemBlocks(text)].filter(({ label }) => label === "CERTIFICATE")
      .flatMap(({ text }) => certificateOf(text));
  }
  if (content[0] !== SEQUENCE) return [];
  const alone = certificateOf(content);
  return alone.length > 0 ? alone : certificatesOfStore(content, passwords);
}

const SEQUENCE = 0x30;

/** Returns a certificate, or none if it is unreadable: `check` reports those that the configuration names. */
function certificateOf(encoded: string | Uint8Array): X509Certificate[] {
  return attempt(() => [new X509Certificate(encoded)], Error, () => []);
}

function certificatesOfStore(content: Uint8Array, passwords: readonly string[]): X509Certificate[] {
  const open = (password: string) =>
    attempt(() => readPkcs12(content, password), UnusableStore, () => undefined);
  return [...passwords.values().map(open).find((store) => store !== undefined)?.certificates ?? []];
}

const MAX_PASSWORDS = 8; // most passwords to try, from the service's key store and its truststores

function passwordsIn({ entries }: Properties): string[] {
  const values = [...entries.values()].filter(({ key }) => /password$/i.test(key))
    .map(({ value }) => value.trim());
  return [...new Set([...values, ""])].slice(0, MAX_PASSWORDS);
}
