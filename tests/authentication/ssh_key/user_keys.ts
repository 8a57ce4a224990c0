import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject } from "node:crypto";

const FOLDER = new URL("../../fixtures/ssh_keys/", import.meta.url);

/** Returns the line of a fixture's `.pub` file. */
export function publicLine(name: string): string {
  return Deno.readTextFileSync(new URL(`${name}.pub`, FOLDER)).trim();
}

/** Returns type and blob of a fixture, without the comment. */
export function publicKeyWords(name: string): [string, string] {
  const [type = "", blob = ""] = publicLine(name).split(" ");
  return [type, blob];
}

/** Returns a fixture's private key. */
export function privateKey(name: string): KeyObject {
  const pem = Deno.readTextFileSync(new URL(name, FOLDER));
  return pem.includes("OPENSSH") ? readEd25519(pem) : createPrivateKey(pem);
}

/** Reads an Ed25519 key, which is in OpenSSH's own format: finds the 64 bytes of seed and public key. */
function readEd25519(pem: string): KeyObject {
  const bytes = Buffer.from(pem.replace(/-----.*?-----/g, ""), "base64");
  const at = bytes.lastIndexOf(Buffer.from([0, 0, 0, 64])) + 4;
  const [d, x] = [bytes.subarray(at, at + 32), bytes.subarray(at + 32, at + 64)];
  const key = { kty: "OKP", crv: "Ed25519", d: d.toString("base64url"), x: x.toString("base64url") };
  return createPrivateKey({ key, format: "jwk" });
}

/** Key of the examples (credentials.md 3.2). */
export const SHEET_KEY_LINE =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILZQMXiEwFiVRbM7ZLBrt2FLK/uB0vJfu2ex0daNkpl1 ann@laptop";

/** Returns an SSH string: the length in four bytes, and the bytes. */
export function wireString(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
