import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { trimCharacters } from "../../../model/text.ts";
import {
  decodeKey,
  decodeKeyBlob,
  isSshKeyType,
  isWireSigned,
  readKey,
  type SshKeyType,
  type SshPublicKey,
  sshPublicKey,
  UnusableKey,
  WireReader,
} from "../public_key.ts";

/** OpenSSH user certificate with a valid signature (OpenSSH, PROTOCOL.certkeys) of any authority. */
export interface UserCertificate {
  readonly publicKey: SshPublicKey;
  readonly authority: SshPublicKey;
  readonly serial: bigint;
  readonly keyId: string; // label for logs and revocation
  readonly principals: readonly string[];
  readonly validAfter: number; // first valid second since the epoch
  readonly validBefore: number; // first invalid second since the epoch, or infinite
  readonly criticalOptions: ReadonlyMap<string, string>; // must be enforced, or the certificate refused
  readonly extensions: ReadonlyMap<string, string>;
  readonly line: string; // type and blob without comment
  readonly digest: string; // SHA-256 of the signed part in base64url: signatures have several encodings
}

export type UploadOutcome =
  | { readonly kind: "stored"; readonly certificate: UserCertificate; readonly principals: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string }; // the caller may see the reason

const MAX_CERTIFICATE_LINE = 16_384; // UTF-16 units; OpenSSH allows 256 principals

const MOST_PRINCIPALS = 256;
const TYPE_SUFFIX = "-cert-v01@openssh.com";
const USER = 1; // certificate type; 2 is for hosts
const NEVER = 0xffff_ffff_ffff_ffffn;

/** Parses a `…-cert.pub` line. @throws {UnusableKey} If it is no user certificate with a valid signature. */
export function readUserCertificate(line: string): UserCertificate {
  if (line.length > MAX_CERTIFICATE_LINE) throw new UnusableKey("line is too long");
  const trimmed = trimCharacters(line, " \t\r\n");
  if (trimmed.includes("\n")) throw new UnusableKey("expected one certificate on one line");
  const [type = "", base64 = ""] = trimmed.split(/[ \t]/, 2);
  const keyType = certifiedType(type);
  const blob = decodeKey(base64, MAX_CERTIFICATE_LINE);
  const reader = new WireReader(blob, "certificate");
  if (reader.text() !== type) throw new UnusableKey("certificate is not of the type named before it");
  reader.string(); // nonce
  const publicKey = readCertifiedKey(keyType, reader);
  const serial = reader.uint64();
  if (reader.uint32() !== USER) throw new UnusableKey("certificate is not one for a user");
  const keyId = text(reader);
  const principals = readPrincipals(reader.nested());
  const [validAfter, validBefore] = [seconds(reader.uint64()), seconds(reader.uint64())];
  const criticalOptions = readOptions(reader.nested());
  const extensions = readOptions(reader.nested());
  reader.string(); // reserved
  const authority = decodeKeyBlob(reader.string());
  const signed = blob.subarray(0, reader.position);
  const signature = reader.string();
  reader.expectEnd();
  if (!isWireSigned(signed, signature, authority)) {
    throw new UnusableKey("certificate is not signed by its authority, or with a weak algorithm");
  }
  return {
    publicKey,
    authority,
    serial,
    keyId,
    principals,
    validAfter,
    validBefore,
    criticalOptions,
    extensions,
    line: `${type} ${base64}`,
    digest: hash("sha256", signed, "base64url"),
  };
}

/** Reports whether a word names a certificate type. */
export function isCertificateType(word: string): boolean {
  return word.endsWith(TYPE_SUFFIX);
}

function certifiedType(word: string): SshKeyType {
  if (!isCertificateType(word)) {
    throw new UnusableKey("expected an OpenSSH certificate, as in id_ed25519-cert.pub");
  }
  const type = word.slice(0, -TYPE_SUFFIX.length);
  if (!isSshKeyType(type)) throw new UnusableKey("key type of the certificate is not supported");
  return type;
}

function readCertifiedKey(type: SshKeyType, reader: WireReader): SshPublicKey {
  const start = reader.position;
  const key = readKey(type, reader);
  const name = Buffer.alloc(4 + type.length);
  name.writeUInt32BE(type.length);
  name.write(type, 4, "latin1");
  return sshPublicKey(type, key, Buffer.concat([name, reader.bytes.subarray(start, reader.position)]));
}

function readPrincipals(list: WireReader): readonly string[] {
  const principals: string[] = [];
  while (!list.isAtEnd) {
    if (principals.length === MOST_PRINCIPALS) throw new UnusableKey("certificate has too many principals");
    principals.push(text(list));
  }
  // Without principals it would be valid for everybody; sshd refuses it too (auth2-pubkey.c).
  if (principals.length === 0) throw new UnusableKey("certificate names no principals");
  if (principals.includes("")) throw new UnusableKey("certificate has a principal without a name");
  return principals;
}

/** Reads options; values are nested strings, empty for flags. */
function readOptions(list: WireReader): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  while (!list.isAtEnd) {
    const name = text(list);
    const content = list.nested();
    if (options.has(name)) throw new UnusableKey("certificate has an option twice");
    options.set(name, content.isAtEnd ? "" : text(content));
    content.expectEnd();
  }
  return options;
}

/** Converts seconds since the epoch; far values are infinite. */
function seconds(value: bigint): number {
  return value === NEVER || value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value);
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function text(reader: WireReader): string {
  const bytes = reader.string();
  // sshd truncates C strings there (sshbuf_get_cstring).
  if (bytes.includes(0)) throw new UnusableKey("text in the certificate, such as a principal, holds a NUL");
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw new UnusableKey("text in the certificate is not UTF-8");
  }
}
