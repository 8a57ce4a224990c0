import { hashWithScrypt } from "../../../authentication/password/stored_hash.ts";
import { FOLDER_FILES, scriptFiles, STARTUP_FILE } from "../installation/sample_file.ts";
import { passwordLine } from "../password_file_text.ts";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { encodeElement } from "../../../model/der_element.ts";

const TRIAL_DAYS = 30;

const HOST = "localhost";
const ORGANIZATION = "authserver trial";
const USER = { name: "demo", dn: `CN=Demo User,O=${ORGANIZATION}` };
/** Authority's certificate, relative to the installation's folder. */
export const TRIAL_AUTHORITY = "conf/trusted/ca.pem";

/**
 * Creates a trial site: loopback only, one user, short-lived certificates. @param now Milliseconds since the epoch.
 * @param prefix See {@link scriptFiles}.
 */
export async function createTrialSite(port: string, now: number, prefix?: string) {
  const password = crypto.getRandomValues(new Uint8Array(12)).toBase64({ alphabet: "base64url" });
  const { authority, service } = createTrialCertificates(
    new Date(now - 3_600_000),
    new Date(now + TRIAL_DAYS * 86_400_000),
  );
  const line = passwordLine(USER.name, await hashWithScrypt(password), USER.dn);
  const account = { role: "user", xlogin: USER.name };
  const changes: Readonly<Record<string, (text: string) => string>> = {
    "conf/container.properties": (text) =>
      text.replace(/^container\.host=.*$/m, `container.host=${HOST}`)
        .replace(/^container\.port=.*$/m, `container.port=${port}`),
    "conf/mapfile.json": () => `${JSON.stringify({ [USER.dn]: account }, undefined, 2)}\n`,
    "conf/users.txt": (text) => `${text}${line}\n`,
  };
  return {
    user: USER.name,
    password, // not stored: the files have only its hash
    host: HOST,
    files: [
      ...FOLDER_FILES.map((file) => ({ ...file, text: changes[file.path]?.(file.text) ?? file.text })),
      { path: "conf/auth-cert.pem", mode: 0o644, text: service.certificate },
      { path: "conf/auth-key.pem", mode: 0o600, text: service.key },
      STARTUP_FILE,
      ...scriptFiles(prefix),
      { path: TRIAL_AUTHORITY, mode: 0o644, text: authority },
    ],
  };
}

/**
 * Creates an authority, whose key it discards, and the service's certificate, for server and client use, since daemons
 * request it. X.509 version 3 (RFC 5280), ECDSA on P-256 with SHA-256 (RFC 5758).
 */
export function createTrialCertificates(...valid: readonly [from: Date, until: Date]) {
  const [ca, own] = [keyPair(), keyPair()];
  const issuer = nameWith("Throw-away CA");
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
      certificate: certify(nameWith(HOST), own.publicKey, [
        extension(SUBJECT_ALTERNATIVE_NAME, sequence(tagged(0x82, Buffer.from(HOST, "latin1")))),
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
const ORGANIZATION_NAME = identifier(0x55, 0x04, 0x0a);
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
function nameWith(common: string): Buffer {
  const part = (type: Buffer, text: string) =>
    tagged(0x31, sequence(type, tagged(0x0c, Buffer.from(text, "utf8"))));
  return sequence(part(ORGANIZATION_NAME, ORGANIZATION), part(COMMON_NAME, common));
}

/** Until 2049 (RFC 5280, 4.1.2.5.1). */
function utcTime(moment: Date): Buffer {
  return tagged(0x17, Buffer.from(`${moment.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`, "latin1"));
}

function pem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
