import { type Pkcs12Content, readPkcs12, WrongPassword } from "./pkcs12_certificates.ts";
import { privateKeyOfDer } from "./private_key.ts";
import { UnusableStore } from "./certificates.ts";

/** Reports whether bytes are a Java key store (JKS or JCEKS). */
export function isJavaKeyStore(bytes: Uint8Array): boolean {
  const magic = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return magic === "feedfeed" || magic === "cececece";
}

/** @throws {UnusableStore} Always; the message has the conversion command. */
export function refuseJavaKeyStore(path: string): never {
  const target = `${path.replace(/\.(?:jks|jceks|keystore)$/i, "")}.p12`;
  const command =
    `keytool -importkeystore -srckeystore ${path} -destkeystore ${target} -deststoretype pkcs12`;
  throw new UnusableStore(`expected PKCS#12, this is a Java key store; convert it: ${command}`);
}

/** Opens a PKCS#12 store that has a key with its certificate, also with RC2 and 3DES (design note 7). @throws {UnusableStore} */
export function openKeyStore(pfx: Uint8Array, password: string | undefined) {
  const { certificates, keys: [der, ...others] } = read(pfx, password);
  if (der === undefined) {
    throw new UnusableStore("expected a key store with a private key, this one holds certificates only");
  }
  if (others.length > 0) {
    const found = `this one has ${others.length + 1}; export the one to use`;
    throw new UnusableStore(
      `expected a key store with one private key, ${found}: ` +
        "keytool -importkeystore -srckeystore <old> -srcalias <alias> -destkeystore <new> -deststoretype pkcs12",
    );
  }
  const key = privateKeyOfDer(der, undefined);
  if (!certificates.some((certificate) => certificate.checkPrivateKey(key))) {
    throw new UnusableStore("expected a key store with a private key and its certificate");
  }
  return { key, certificates };
}

function read(pfx: Uint8Array, password: string | undefined): Pkcs12Content {
  try {
    return readPkcs12(pfx, password ?? "");
  } catch (cause) {
    if (password !== undefined || !(cause instanceof WrongPassword)) throw cause;
    const expected = "expected container.security.credential.password too, the key store is encrypted";
    throw new UnusableStore(expected, { cause });
  }
}
