import { addressInRange, canonicalAddress } from "../model/address.ts";
import type { KeyReader } from "./key_reader.ts";

/**
 * Sees to it that passwords and tokens go to another system encrypted: by `https://`, or by `http://` within this machine,
 * or where the operator says so in so many words.
 * @param key Of the address.
 * @param permission Key by which the operator says so; `permitted` is its value.
 */
export function requireHttps(
  reader: KeyReader,
  { key, address, permission, permitted }: {
    readonly key: string;
    readonly address: string;
    readonly permission: string;
    readonly permitted: boolean;
  },
): void {
  if (URL.parse(address)?.protocol !== "http:") return;
  if (isThisMachine(new URL(address).hostname)) {
    reader.warn(key, "not encrypted, which will do within this machine", address);
  } else if (permitted) {
    reader.warn(
      key,
      "whoever is on the way reads passwords and tokens, and can answer in place of the server",
      address,
    );
  } else {
    reader.error(key, `expected https://, or ${permission}=true to send secrets unencrypted`, address);
  }
}

function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const address = canonicalAddress(host);
  return host === "localhost" ||
    (address !== undefined && (address === "::1" || addressInRange(address, "127.0.0.0/8")));
}
