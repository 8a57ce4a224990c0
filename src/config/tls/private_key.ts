import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject } from "node:crypto";
import { USABLE_KEYS } from "../../model/trust/certificate_facts.ts";
import { pemBlocks, UnusableStore } from "./certificates.ts";

/** Reports whether a PEM text contains a private key. */
export function hasPrivateKey(pem: string): boolean {
  return firstKey(pem) !== undefined;
}

function firstKey(pem: string): string | undefined {
  return pemBlocks(pem).find(({ label }) => label.endsWith("PRIVATE KEY"))?.text;
}

/** Parses a PEM key: PKCS#8, PKCS#1 or SEC 1, also encrypted. */
export function privateKeyOfPem(pem: string, password: string | undefined): KeyObject {
  const block = firstKey(pem);
  if (block === undefined) throw new UnusableStore("expected a private key in PEM form");
  if (block.includes(" OPENSSH ")) {
    const convert = "cp <old> <new> && ssh-keygen -p -m PKCS8 -f <new>";
    throw new UnusableStore(`expected a private key in PKCS#8 form, convert it: ${convert}`);
  }
  if (!/ENCRYPTED/.test(block)) return read(() => createPrivateKey(block));
  if (password === undefined) {
    throw new UnusableStore(
      "expected container.security.credential.password too, the private key is encrypted",
    );
  }
  return read(() => createPrivateKey({ key: block, passphrase: password }), password);
}

/** Parses a DER key: PKCS#8 (also encrypted), PKCS#1 or SEC 1. */
export function privateKeyOfDer(der: Uint8Array, password: string | undefined): KeyObject {
  const key = Buffer.from(der);
  for (const type of ["pkcs8", "pkcs1", "sec1"] as const) {
    try {
      return createPrivateKey({ key, format: "der", type, passphrase: password });
    } catch {
      // Try the next type.
    }
  }
  throw new UnusableStore(
    `expected a private key in DER form${password === undefined ? "" : " and its right password"}`,
  );
}

const OLD_ENCRYPTION = "expected a private key with current encryption, convert it: " +
  "openssl pkcs8 -topk8 -v2 aes256 -in <old> -out <new>";

function read(create: () => KeyObject, password?: string): KeyObject {
  try {
    return create();
  } catch (cause) {
    const [wrong, unsupported] = password === undefined
      ? ["expected a private key that can be read", `expected ${USABLE_KEYS}`]
      : ["expected the right password of the key", OLD_ENCRYPTION];
    const isUnsupported = cause instanceof Error && /unsupported/i.test(cause.message);
    throw new UnusableStore(isUnsupported ? unsupported : wrong, { cause });
  }
}
