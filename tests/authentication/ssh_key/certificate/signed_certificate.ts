import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { wireString } from "../user_keys.ts";

/** Authority of a test, with its line for the file of authorities. */
export interface TestAuthority {
  readonly line: string;
  /**
   * Returns the line of a certificate by this authority, without end of validity.
   * @param change Changes the signature on the wire.
   * @param content Changes the signed content in front of the authority's key.
   */
  certify(
    principals: readonly string[],
    serial?: number,
    change?: (signature: Buffer) => Buffer,
    content?: (body: Buffer) => Buffer,
  ): string;
}

const CERTIFICATE = "ssh-ed25519-cert-v01@openssh.com";

/** Makes an authority with a new key. */
export function testAuthority(type: "ssh-ed25519" | "ecdsa-sha2-nistp256" = "ssh-ed25519"): TestAuthority {
  const pair = type === "ssh-ed25519"
    ? generateKeyPairSync("ed25519")
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const blob = type === "ssh-ed25519" ? ed25519Blob(pair.publicKey) : ecdsaBlob(pair.publicKey);
  return {
    line: `${type} ${blob.toString("base64")}`,
    certify(principals, serial = 1, change = (signature) => signature, content = (body) => body) {
      const key = ed25519Blob(generateKeyPairSync("ed25519").publicKey);
      const told = Buffer.concat([
        wireString(CERTIFICATE),
        wireString("nonce"),
        key.subarray(4 + "ssh-ed25519".length),
        number(serial),
        Buffer.from([0, 0, 0, 1]),
        wireString(`key ${serial}`),
        wireString(Buffer.concat(principals.map(wireString))),
        number(0),
        Buffer.alloc(8, 0xff),
        ...[1, 2, 3].map(() => wireString("")),
      ]);
      const body = Buffer.concat([content(told), wireString(blob)]);
      const signature = change(signatureOf(body, type, pair.privateKey));
      const whole = Buffer.concat([
        body,
        wireString(Buffer.concat([wireString(type), wireString(signature)])),
      ]);
      return `${CERTIFICATE} ${whole.toString("base64")}`;
    },
  };
}

/** Returns an ECDSA signature in another SSH form: a leading zero of the first number is added or removed. */
export function otherForm(signature: Buffer): Buffer {
  const length = signature.readUInt32BE();
  const [first, rest] = [signature.subarray(4, 4 + length), signature.subarray(4 + length)];
  const changed = first[0] === 0 ? first.subarray(1) : Buffer.concat([Buffer.alloc(1), first]);
  return Buffer.concat([wireString(changed), rest]);
}

function signatureOf(body: Buffer, type: string, key: KeyObject): Buffer {
  if (type === "ssh-ed25519") return sign(null, body, key);
  const plain = sign("sha256", body, { key, dsaEncoding: "ieee-p1363" });
  return Buffer.concat(
    [plain.subarray(0, 32), plain.subarray(32)].map((digits) =>
      wireString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits)
    ),
  );
}

function ed25519Blob(key: KeyObject): Buffer {
  const { x = "" } = key.export({ format: "jwk" });
  return Buffer.concat([wireString("ssh-ed25519"), wireString(Buffer.from(x, "base64url"))]);
}

function ecdsaBlob(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from([4]), ...[x, y].map((part) => Buffer.from(part, "base64url"))]);
  return Buffer.concat(["ecdsa-sha2-nistp256", "nistp256", point].map(wireString));
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
