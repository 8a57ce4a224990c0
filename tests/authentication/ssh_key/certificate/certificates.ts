import {
  readUserCertificate,
  type UserCertificate,
} from "../../../../src/authentication/ssh_key/certificate/user_certificate.ts";

const FOLDER = new URL("../../../fixtures/ssh_certificates/", import.meta.url);

/** Returns the line of a certificate or authority that `ssh_certificates/make_certificates.sh` made. */
export function certificateLine(name: string): string {
  return Deno.readTextFileSync(new URL(`${name}.pub`, FOLDER)).trim();
}

export function certificate(name: string): UserCertificate {
  return readUserCertificate(certificateLine(name));
}

/** Returns a list of revoked keys that `ssh-keygen -k` made. */
export function revokedList(name: string): Uint8Array {
  return Deno.readFileSync(new URL(`${name}.krl`, FOLDER));
}

/** Time within the validity of most certificates, in seconds since the epoch. */
export const IN_TIME = Date.UTC(2026, 5, 1, 12) / 1000;
