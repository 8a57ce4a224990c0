import { canonicalAddress } from "../model/address.ts";
import { unlessAbsent } from "../model/unless_absent.ts";

/**
 * Addresses of the name servers that this machine asks (resolv.conf(5), `nameserver`); without a file, none. Link-local ones
 * with a zone are left out: a permission cannot name them.
 */
export async function nameServers(file = "/etc/resolv.conf"): Promise<readonly string[]> {
  const text = await unlessAbsent(Deno.readTextFile(file)) ?? "";
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].flatMap(([, address = ""]) =>
    canonicalAddress(address) ?? []
  );
}
