import { canonicalAddress } from "../model/address.ts";
import { unlessAbsent } from "../model/regular_file.ts";

/** Returns the name servers of resolv.conf(5), without link-local ones with a zone: a permission cannot name them. */
export async function nameServers(file = "/etc/resolv.conf"): Promise<readonly string[]> {
  const text = await unlessAbsent(Deno.readTextFile(file)) ?? "";
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].flatMap(([, address = ""]) =>
    canonicalAddress(address) ?? []
  );
}
