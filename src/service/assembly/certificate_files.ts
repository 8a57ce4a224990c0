import { attempt } from "../../model/attempt.ts";
import type { X509Certificate } from "node:crypto";
import { trustedIssuerOf } from "../../authentication/issued_token/issuer.ts";
import { certificatesIn, UnusableStore } from "../../config/tls/certificates.ts";
import { InvalidFile } from "../../model/diagnostic.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { messageOf } from "../../model/text.ts";

/** Reads the PEM certificate of a trusted issuer. @throws {InvalidFile} If it is missing, or its key cannot sign tokens. */
export async function readTrustedIssuer(file: string): Promise<string> {
  const key = "container.security.rest.jwt.trustedIssuerCert";
  const pem = (await readCertificate(file, key)).toString();
  attempt(() => trustedIssuerOf(pem), TypeError, ({ message }) => {
    throw unusable(file, key, message);
  });
  return pem;
}

/** Reads the PEM certificate of the gateway. @throws {InvalidFile} */
export async function readGatewayCertificate(file: string): Promise<string> {
  return (await readCertificate(file, "container.security.gateway.certificate")).toString();
}

/** Reads the first certificate, PEM or DER. */
async function readCertificate(file: string, key: string): Promise<X509Certificate> {
  try {
    return certificatesIn(await readRegularFile(file))[0];
  } catch (error) {
    if (error instanceof UnusableStore) throw unusable(file, key, error.message);
    throw unusable(file, key, `cannot be read: ${messageOf(error)}`);
  }
}

function unusable(file: string, key: string, expected: string): InvalidFile {
  return new InvalidFile([{ severity: "error", file, key, expected }]);
}
