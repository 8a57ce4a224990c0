import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Returns a host's addresses by preference; an address itself; nothing for an unknown name. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    const found = await lookup(host, { all: true, order: "ipv4first" });
    return [...new Set(found.map(({ address }) => address))];
  } catch {
    return []; // the connector reports it when it tries to connect
  }
}
