import { addressInRange, canonicalAddress } from "../model/address.ts";
import type { Place } from "./kind.ts";

/** Requires `https://` for credentials, unless the host is local or `allowPlainHttp` is set beside `key`. */
export function requireHttps(
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
  key: string,
  address: string,
  permitted: boolean,
): void {
  if (URL.parse(address)?.protocol !== "http:") return;
  if (isThisMachine(new URL(address).hostname)) {
    reader.warn(prefix + key, "not encrypted, which will do within this machine", address);
  } else if (permitted) {
    const expected =
      "anyone on the network path can read passwords and tokens, and can impersonate the server";
    reader.warn(prefix + key, expected, address);
  } else {
    const expected = `expected https://, or ${prefix}allowPlainHttp=true to send secrets unencrypted`;
    reader.error(prefix + key, expected, address);
  }
}

/** Reports whether a host of a URL is this machine. */
export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const address = canonicalAddress(host);
  return host === "localhost" ||
    (address !== undefined && (address === "::1" || addressInRange(address, "127.0.0.0/8")));
}
