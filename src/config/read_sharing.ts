import { canonicalAddress } from "../model/address.ts";
import { hostsOf } from "../model/host_list.ts";
import type { KeyReader } from "./key_reader.ts";
import { SHARE } from "./keys/sharing_keys.ts";
import { readPersistence } from "./read_persistence.ts";
import type { Known, Parts } from "./section_reader.ts";

/** Reads data sharing (rest-api.md 3.6). */
export async function readSharing(
  reader: KeyReader,
  { serverNames }: Known,
): Promise<Parts | undefined> {
  const share = reader.read(SHARE);
  const persistence = await readPersistence(reader);
  if (share === undefined || persistence === undefined) return undefined;
  const shared = share.servers.filter((name) => serverNames?.includes(name) !== false);
  const strangers = share.servers.filter((name) => !shared.includes(name));
  if (strangers.length > 0) {
    const expected = `expected names out of authservice.servers, ${strangers.join(" ")} left out`;
    reader.warn("share.servers", expected, share.servers.join(" "));
  }
  const { directory, database } = persistence;
  if (shared.length > 0 && directory === undefined && database === undefined) {
    const expected = "expected persistence.directory too, the folder of the share database";
    reader.error("share.servers", expected, share.servers.join(" "));
  }
  const clientAddresses = readClientAddresses(reader, share.clientAddresses ?? "");
  return { sharing: { ...share, servers: shared, directory, database, clientAddresses } };
}

/** Allows addresses only, since the daemon compares texts. */
function readClientAddresses(reader: KeyReader, written: string): string[] {
  const given = hostsOf(written).flatMap((host) =>
    host.toLowerCase() === "localhost" ? ["127.0.0.1", "::1"] : [host]
  );
  const addresses = given.flatMap((host) => canonicalAddress(host) ?? []);
  if (addresses.length < given.length) {
    const rest = addresses.length === 0 ? "without any the address is found out" : "names are left out";
    reader.warn("share.clientIP", `expected IP addresses, ${rest}`, written);
  }
  return addresses;
}
