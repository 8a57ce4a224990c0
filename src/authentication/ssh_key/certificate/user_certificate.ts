import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { trimCharacters } from "../../../model/trim.ts";
import {
  decodeBase64,
  decodeKeyBlob,
  isSshKeyType,
  readKey,
  type SshKeyType,
  type SshPublicKey,
  sshPublicKey,
} from "../public_key.ts";
import { UnusableKey, WireReader } from "../wire_reader.ts";
import { isWireSigned } from "../wire_signature.ts";

/** An OpenSSH user certificate whose signature was verified (OpenSSH, PROTOCOL.certkeys). Says nothing of who signed it. */
export interface UserCertificate {
  /** The key that is certified. */
  readonly publicKey: SshPublicKey;
  /** The key that signed it. */
  readonly authority: SshPublicKey;
  readonly serial: bigint;
  /** What the authority calls it, for logs and revocation. */
  readonly keyId: string;
  /** Whom it speaks for; never empty. */
  readonly principals: readonly string[];
  /** First second at which it counts, since the epoch. */
  readonly validAfter: number;
  /** First second at which it counts no more; infinite if it never ends. */
  readonly validBefore: number;
  /** What must be obeyed by whoever takes it, and the value of each. */
  readonly criticalOptions: ReadonlyMap<string, string>;
  readonly extensions: ReadonlyMap<string, string>;
  /** Type and blob, as the line has them without its comment. */
  readonly line: string;
  /** SHA-256 in base64url of all that is signed: one signature can be written in several forms, what it says cannot. */
  readonly digest: string;
}

/** Longest line that is read, in UTF-16 units; OpenSSH takes up to 256 principals. */
const MAX_CERTIFICATE_LINE = 16_384;

const MOST_PRINCIPALS = 256;
const TYPE_SUFFIX = "-cert-v01@openssh.com";
/** Type of certificates for users; 2 is that for hosts. */
const USER = 1;
const NEVER = 0xffff_ffff_ffff_ffffn;

/**
 * Reads the line of a `…-cert.pub` file: type, certificate in base64, comment.
 * @throws {UnusableKey} If it is no certificate for a user that is signed by the key inside it.
 */
export function readUserCertificate(line: string): UserCertificate {
  if (line.length > MAX_CERTIFICATE_LINE) throw new UnusableKey("line is too long");
  const trimmed = trimCharacters(line, " \t\r\n");
  if (trimmed.includes("\n")) throw new UnusableKey("expected one certificate on one line");
  const [type = "", base64 = ""] = trimmed.split(/[ \t]/, 2);
  const keyType = certifiedType(type);
  const blob = decodeBase64(base64, MAX_CERTIFICATE_LINE);
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

/** Whether a word names a type of certificate, of use or not. */
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

/** The key inside, as it is outside of a certificate. */
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
  // Without any it would count for everybody, which sshd refuses too (auth2-pubkey.c).
  if (principals.length === 0) throw new UnusableKey("certificate names no principals");
  if (principals.includes("")) throw new UnusableKey("certificate has a principal without a name");
  return principals;
}

/** Names and their values, which are strings in strings; flags have none. */
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

/** Seconds since the epoch; what no clock will reach is infinite. */
function seconds(value: bigint): number {
  return value === NEVER || value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value);
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function text(reader: WireReader): string {
  const bytes = reader.string();
  // For sshd these are C strings, which end there (sshbuf_get_cstring).
  if (bytes.includes(0)) throw new UnusableKey("text in the certificate, such as a principal, holds a NUL");
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw new UnusableKey("text in the certificate is not UTF-8");
  }
}
