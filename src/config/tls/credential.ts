import type { KeyObject, X509Certificate } from "node:crypto";
import type { CredentialConfig } from "../service_config.ts";
import { certificateOfDer, certificatesOfPem, isPem, UnusableStore } from "./certificates.ts";
import { isJavaKeyStore, openKeyStore, refuseJavaKeyStore } from "./key_store.ts";
import { hasPrivateKey, privateKeyOfDer, privateKeyOfPem } from "./private_key.ts";

/** Certificate with chain and private key. */
export interface Credential {
  readonly key: KeyObject;
  readonly certificates: readonly X509Certificate[]; // leaf first
}

const PASSWORD_KEY = "container.security.credential.password";

/**
 * Reads certificate and key, detecting the format by content (rest-api.md 3.5 goes by name).
 * @param files Content of `path`, and of `keyPath` if configured.
 * @throws {UnusableStore}
 */
export function readCredentialFiles(
  { path, format, password, keyPassword }: CredentialConfig,
  files: { readonly certificate: Uint8Array; readonly key: Uint8Array | undefined },
): Credential {
  const found = files.key === undefined
    ? readOne(path, files.certificate, password, keyPassword, format)
    : { certificates: readCertificates(files.certificate), key: readKey(files.key, password) };
  const { key, certificates } = found;
  const own = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (own === undefined) {
    throw new UnusableStore("expected the certificate of the private key, they do not belong together");
  }
  return { key, certificates: [own, ...certificates.filter((certificate) => certificate !== own)] };
}

function readOne(
  path: string,
  bytes: Uint8Array,
  password: string | undefined,
  keyPassword: string | undefined,
  format: CredentialConfig["format"],
): Credential {
  if (isJavaKeyStore(bytes) || format === "jks") return refuseJavaKeyStore(path);
  if (isPem(bytes)) {
    const text = new TextDecoder().decode(bytes);
    if (!hasPrivateKey(text)) {
      throw new UnusableStore(
        "expected a private key in the same file, or container.security.credential.keyPath too",
      );
    }
    return { certificates: readCertificates(bytes), key: privateKeyOfPem(text, password, PASSWORD_KEY) };
  }
  if (format === "der") {
    throw new UnusableStore(
      "expected container.security.credential.keyPath too, DER has one key or certificate a file",
    );
  }
  if (keyPassword !== undefined && keyPassword !== password) {
    throw new UnusableStore(
      "expected a key store whose key has the password of the store, without keyPassword",
    );
  }
  return openKeyStore(bytes, password);
}

function readCertificates(bytes: Uint8Array): X509Certificate[] {
  const certificates = isPem(bytes)
    ? certificatesOfPem(new TextDecoder().decode(bytes))
    : [certificateOfDer(bytes)];
  if (certificates.length === 0) throw new UnusableStore("expected a certificate in PEM or DER form");
  return certificates;
}

function readKey(bytes: Uint8Array, password: string | undefined): KeyObject {
  return isPem(bytes)
    ? privateKeyOfPem(new TextDecoder().decode(bytes), password, PASSWORD_KEY)
    : privateKeyOfDer(bytes, password);
}
