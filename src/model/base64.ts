import { Buffer } from "node:buffer";

/** Decodes canonical base64 with padding (RFC 4648, section 4); `undefined` for any other text. */
export function decodeBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? decodeCanonical(text, "base64") : undefined;
}

/** Decodes canonical base64url without padding (RFC 7515, section 2); `undefined` for any other text. */
export function decodeBase64Url(text: string): Buffer | undefined {
  return /^[\w-]*$/.test(text) ? decodeCanonical(text, "base64url") : undefined;
}

/** `Buffer.from()` ignores other characters, and takes a microsecond for each octet of a text that has any. */
function decodeCanonical(text: string, encoding: "base64" | "base64url"): Buffer | undefined {
  const octets = Buffer.from(text, encoding);
  return octets.toString(encoding) === text ? octets : undefined;
}
