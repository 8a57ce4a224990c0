import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { encodeElement } from "../../../model/der_element.ts";

/** Certificate and private key (PKCS#8, unencrypted) as PEM. */
interface Credential {
  readonly certificate: string;
  readonly key: string;
}

interface TrialNames {
  readonly organization: string;
  readonly host: string;
  readonly valid: readonly [from: Date, until: Date]; // validity
}

/**
 * Creates an authority, whose key is discarded, and the service's certificate, for server and client use, since daemons ask
 * for it. X.509 version 3 (RFC 5280), ECDSA on P-256 with SHA-256 (RFC 5758).
 */
export function createTrialCertificates(
  { organization, host, valid }: TrialNames,
): { readonly authority: string; readonly service: Credential } {
  const [ca, own] = [keyPair(), keyPair()];
  const issuer = name("Throw-away CA", organization);
  const certify = (subject: Buffer, key: KeyObject, extensions: readonly Buffer[]) => {
    const content = sequence(
      tagged(0xa0, tagged(0x02, Buffer.of(2))), // version 3
      tagged(0x02, Buffer.of(0x01), randomBytes(15)),
      ECDSA_WITH_SHA256,
      issuer,
      sequence(...valid.map(utcTime)),
      subject,
      key.export({ type: "spki", format: "der" }),
      tagged(0xa3, sequence(...extensions)),
    );
    const signature = sign("sha256", content, ca.privateKey);
    return pem(sequence(content, ECDSA_WITH_SHA256, tagged(0x03, Buffer.of(0), signature)));
  };
  return {
    authority: certify(issuer, ca.publicKey, [
      extension(BASIC_CONSTRAINTS, sequence(TRUE)),
      extension(KEY_USAGE, tagged(0x03, Buffer.of(2, 0b100))), // keyCertSign
    ]),
    service: {
      certificate: certify(name(host, organization), own.publicKey, [
        extension(SUBJECT_ALTERNATIVE_NAME, sequence(tagged(0x82, Buffer.from(host, "latin1")))),
        extension(EXTENDED_KEY_USAGE, sequence(SERVER_AUTHENTICATION, CLIENT_AUTHENTICATION)),
      ]),
      key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    },
  };
}

function keyPair(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  return encodeElement(tag, Buffer.concat(contents));
}

function sequence(...values: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...values);
}

function identifier(...octets: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(octets));
}

const TRUE = tagged(0x01, Buffer.of(0xff));
const ECDSA_WITH_SHA256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = identifier(0x55, 0x04, 0x03);
const ORGANIZATION = identifier(0x55, 0x04, 0x0a);
const KEY_USAGE = identifier(0x55, 0x1d, 0x0f);
const SUBJECT_ALTERNATIVE_NAME = identifier(0x55, 0x1d, 0x11);
const BASIC_CONSTRAINTS = identifier(0x55, 0x1d, 0x13);
const EXTENDED_KEY_USAGE = identifier(0x55, 0x1d, 0x25);
const SERVER_AUTHENTICATION = identifier(0x2b, 6, 1, 5, 5, 7, 3, 1);
const CLIENT_AUTHENTICATION = identifier(0x2b, 6, 1, 5, 5, 7, 3, 2);

/** Extensions that restrict the use are critical. */
function extension(type: Buffer, value: Buffer): Buffer {
  const critical = type === SUBJECT_ALTERNATIVE_NAME ? [] : [TRUE];
  return sequence(type, ...critical, tagged(0x04, value));
}

/** `CN=…,O=…`; DER begins with the least specific part. */
function name(common: string, organization: string): Buffer {
  const part = (type: Buffer, text: string) =>
    tagged(0x31, sequence(type, tagged(0x0c, Buffer.from(text, "utf8"))));
  return sequence(part(ORGANIZATION, organization), part(COMMON_NAME, common));
}

/** Until 2049 (RFC 5280, 4.1.2.5.1). */
function utcTime(moment: Date): Buffer {
  return tagged(0x17, Buffer.from(`${moment.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`, "latin1"));
}

function pem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
