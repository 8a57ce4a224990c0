import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Addresses of a host, the one to try first at the head; an address stands for itself, an unknown name for none. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    const found = await lookup(host, { all: true, order: "ipv4first" });
    return [...new Set(found.map(({ address }) => address))];
  } catch {
    return []; // the connector reports it when it tries to connect
  }
}
