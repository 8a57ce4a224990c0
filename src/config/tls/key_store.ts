import { Buffer } from "node:buffer";
import type { KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { certificatesOfPem } from "./certificates.ts";
import { privateKeyOfPem } from "./private_key.ts";
import { UnusableStore } from "./unusable_store.ts";

/** Content of a PKCS#12 key store with a key. */
export interface KeyStoreContent {
  readonly key: KeyObject;
  /** That of the key first. */
  readonly certificates: readonly X509Certificate[];
}

/** Whether bytes are a Java key store (JKS or JCEKS). */
export function isJavaKeyStore(bytes: Uint8Array): boolean {
  const magic = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return magic === "feedfeed" || magic === "cececece";
}

/** @throws {UnusableStore} Always: these stores are read by Java only; the message tells how to convert one. */
export function refuseJavaKeyStore(path: string): never {
  const target = path.replace(/\.(?:jks|jceks|keystore)$/i, "");
  throw new UnusableStore(
    "expected PKCS#12, this is a Java key store; convert it: " +
      `keytool -importkeystore -srckeystore ${path} -destkeystore ${target}.p12 -deststoretype pkcs12`,
  );
}

/**
 * Opens a PKCS#12 key store, also one with the old RC2 and 3DES encryption (design.md 7).
 * @throws {UnusableStore} If the password is wrong, or there is no key in it.
 */
export function openKeyStore(pfx: Uint8Array, password: string | undefined): KeyStoreContent {
  const context = readContext(pfx, password);
  const { cert, key, ca } = context;
  if (typeof cert !== "string" || typeof key !== "string") {
    throw new UnusableStore("expected a key store with a private key and its certificate");
  }
  const chain = Array.isArray(ca) ? ca.filter((entry) => typeof entry === "string") : [];
  const certificates = [cert, ...chain].flatMap(certificatesOfPem);
  return { key: privateKeyOfPem(key, undefined, ""), certificates };
}

/** Deno's TLS context shows what it took out of a PKCS#12 store, as PEM text. */
function readContext(pfx: Uint8Array, password: string | undefined): Record<"cert" | "key" | "ca", unknown> {
  let opened: unknown;
  try {
    opened = createSecureContext({ pfx: Buffer.from(pfx), passphrase: password ?? "" }).context;
  } catch (cause) {
    throw new UnusableStore(explain(cause instanceof Error ? cause.message : "", password), { cause });
  }
  const { cert, key, ca } = toRecord(opened);
  return { cert, key, ca };
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function explain(message: string, password: string | undefined): string {
  if (/mac verify/i.test(message)) {
    return password === undefined
      ? "expected container.security.credential.password too, the key store is encrypted"
      : "expected the right password of the key store, or the file is damaged";
  }
  if (/no usable private key/i.test(message)) {
    return "expected a key store with a private key, this one holds certificates only";
  }
  return "expected a PKCS#12 key store, this file cannot be read as one";
}
