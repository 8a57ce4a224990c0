import { Buffer } from "node:buffer";
import { createHash, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as der from "./der.ts";
import { distinguishedName } from "./distinguished_name.ts";
import { createKeyPair, type KeyType, type SigningKey } from "./signing_key.ts";

/** A certificate and its private key (PKCS#8, unencrypted), both as PEM. */
export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Content of a certificate. Only given options become extensions, as in certificates in the field.
 */
export interface CertificateOptions {
  /** RFC 4514 text, most specific part first, such as `CN=AUTH,O=UNICORE,C=EU`. */
  readonly subject: string;
  /** X.509 version, default 3. Version 1 has no extensions: all options for extensions are then ignored. */
  readonly version?: 1 | 3;
  /** Subject alternative names: host names and IP addresses. */
  readonly names?: readonly string[];
  readonly extendedKeyUsage?: readonly ("clientAuth" | "serverAuth")[];
  /** Value of `cA` in the basic constraints; without it, the certificate has no basic constraints. */
  readonly ca?: boolean;
  /** Path length constraint of an authority; default: no constraint. */
  readonly pathLength?: number;
  /** Whether an authority's key usage includes `keyCertSign`; default `true`. */
  readonly signsCertificates?: boolean;
  /** Whether it includes `cRLSign`; default `true`. */
  readonly signsLists?: boolean;
  /** Further extensions, each as DER. */
  readonly extensions?: readonly Uint8Array[];
  /** Default 2020-01-01. */
  readonly notBefore?: Date;
  /** Default 2049-12-31. */
  readonly notAfter?: Date;
  /** Default `ec-p256`. */
  readonly keyType?: KeyType;
}

/** Content of a revocation list besides the certificates. */
export interface RevocationOptions {
  /** Default 2020-01-01. */
  readonly thisUpdate?: Date;
  /** Default 2049-12-31. */
  readonly nextUpdate?: Date;
  /** Extensions of the list, each as DER. */
  readonly extensions?: readonly Uint8Array[];
}

/** A certificate authority for tests. */
export interface Authority extends Credential {
  /** Issues a certificate with a new key. */
  issue(options: CertificateOptions): Credential;
  /** Creates a subordinate authority, whose certificate this one signs. */
  subordinate(options: CertificateOptions): Authority;
  /** Returns another self-signed certificate of this authority's key, with some options changed. */
  renewed(more: Partial<CertificateOptions>): string;
  /** Returns a revocation list (RFC 5280, 5.1) as PEM. */
  revoke(certificates: readonly string[], options?: RevocationOptions): string;
  /**
   * Creates an authority of the same name with another key, whose certificates name us as issuer: forgeries.
   */
  impostor(): Authority;
}

const DEFAULT_NOT_BEFORE = new Date("2020-01-01T00:00:00Z");
const DEFAULT_NOT_AFTER = new Date("2049-12-31T00:00:00Z");

/** Creates a self-signed authority; with `ca: false`, a self-signed certificate that is not an authority. */
export function createAuthority(options: CertificateOptions): Authority {
  const own = createKeyPair(options.keyType ?? "ec-p256");
  const ca = { ...options, ca: options.ca ?? true };
  return authority(ca, own, encode(ca, own.publicKey, options.subject, own), createAuthority);
}

function authority(
  options: CertificateOptions,
  own: SigningKey,
  certificate: string,
  again: (options: CertificateOptions) => Authority,
): Authority {
  return {
    certificate,
    key: own.pem,
    issue(leaf) {
      const key = createKeyPair(leaf.keyType ?? "ec-p256");
      return { certificate: encode(leaf, key.publicKey, options.subject, own), key: key.pem };
    },
    subordinate(sub) {
      const create = (again: CertificateOptions) => {
        const key = createKeyPair(again.keyType ?? "ec-p256");
        const ca = { ...again, ca: again.ca ?? true };
        return authority(ca, key, encode(ca, key.publicKey, options.subject, own), create);
      };
      return create(sub);
    },
    renewed: (more) => encode({ ...options, ...more }, own.publicKey, options.subject, own),
    revoke: (certificates, wanted = {}) => encodeList(options.subject, own, certificates, wanted),
    impostor: () => again(options),
  };
}

/** Returns a certificate (RFC 5280, 4.1) as PEM. */
function encode(
  options: CertificateOptions,
  subjectKey: KeyObject,
  issuer: string,
  signer: SigningKey,
): string {
  const { version = 3, notBefore = DEFAULT_NOT_BEFORE, notAfter = DEFAULT_NOT_AFTER } = options;
  const extensions = version === 3 ? extensionList(options, subjectKey) : [];
  const content = der.sequence(
    ...(version === 3 ? [der.explicit(0, der.integer(Uint8Array.of(2)))] : []),
    der.integer(Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    signer.algorithm,
    distinguishedName(issuer),
    der.sequence(der.time(notBefore), der.time(notAfter)),
    distinguishedName(options.subject),
    subjectKey.export({ type: "spki", format: "der" }),
    ...(extensions.length > 0 ? [der.explicit(3, der.sequence(...extensions))] : []),
  );
  return der.pem("CERTIFICATE", der.sequence(content, signer.algorithm, der.bitString(signer.sign(content))));
}

function encodeList(
  issuer: string,
  signer: SigningKey,
  certificates: readonly string[],
  { thisUpdate = DEFAULT_NOT_BEFORE, nextUpdate = DEFAULT_NOT_AFTER, extensions = [] }: RevocationOptions,
): string {
  const entries = certificates.map((certificate) => {
    // `serialNumber` lacks the first digit if it is 0.
    const digits = new X509Certificate(certificate).serialNumber;
    const serial = Buffer.from(digits.padStart(digits.length + digits.length % 2, "0"), "hex");
    return der.sequence(der.integer(serial), der.time(thisUpdate));
  });
  const content = der.sequence(
    der.integer(Uint8Array.of(1)),
    signer.algorithm,
    distinguishedName(issuer),
    der.time(thisUpdate),
    der.time(nextUpdate),
    ...(entries.length > 0 ? [der.sequence(...entries)] : []),
    ...(extensions.length > 0 ? [der.explicit(0, der.sequence(...extensions))] : []),
  );
  return der.pem("X509 CRL", der.sequence(content, signer.algorithm, der.bitString(signer.sign(content))));
}

const EXTENDED_KEY_USAGES = { serverAuth: "1.3.6.1.5.5.7.3.1", clientAuth: "1.3.6.1.5.5.7.3.2" };

function extensionList(options: CertificateOptions, subjectKey: KeyObject): Uint8Array[] {
  const list: Uint8Array[] = [];
  if (options.ca !== undefined) {
    const length = options.pathLength === undefined ? [] : [der.integer(Uint8Array.of(options.pathLength))];
    list.push(
      extension("2.5.29.19", der.sequence(...(options.ca ? [der.boolean(true), ...length] : [])), true),
    );
  }
  if (options.ca === true) {
    // digitalSignature, keyCertSign and cRLSign, or less
    const bits = 0x80 | (options.signsCertificates === false ? 0 : 4) |
      (options.signsLists === false ? 0 : 2);
    list.push(extension("2.5.29.15", der.bitString(Uint8Array.of(bits), 1), true));
    list.push(extension("2.5.29.14", der.octetString(keyIdentifier(subjectKey))));
  }
  if (options.names !== undefined) {
    list.push(extension("2.5.29.17", der.sequence(...options.names.map(generalName))));
  }
  if (options.extendedKeyUsage !== undefined) {
    const usages = options.extendedKeyUsage.map((usage) => der.objectIdentifier(EXTENDED_KEY_USAGES[usage]));
    list.push(extension("2.5.29.37", der.sequence(...usages)));
  }
  return [...list, ...options.extensions ?? []];
}

function extension(identifier: string, value: Uint8Array, critical = false): Buffer {
  const flag = critical ? [der.boolean(true)] : [];
  return der.sequence(der.objectIdentifier(identifier), ...flag, der.octetString(value));
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash("sha1").update(key.export({ type: "spki", format: "der" })).digest();
}

function generalName(name: string): Buffer {
  const version = isIP(name);
  if (version === 0) return der.implicit(2, Buffer.from(name, "latin1"));
  return der.implicit(7, version === 4 ? Buffer.from(name.split(".").map(Number)) : ipv6Octets(name));
}

/** Returns the 16 octets of an IPv6 address. The URL parser turns an IPv4 tail into groups. */
function ipv6Octets(address: string): Buffer {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail = ""] = canonical.split("::");
  const groups = (text: string) => text === "" ? [] : text.split(":").map((group) => parseInt(group, 16));
  const [front, back] = [groups(head), groups(tail)];
  const all = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
