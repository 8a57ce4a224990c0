import { hostsOf } from "../model/host_list.ts";
import type { KeyReader } from "./key_reader.ts";
import { NO_POSTGRES, PERSISTENCE, POSTGRES, SHARE } from "./keys/sharing_keys.ts";
import type { DatabaseConfig } from "./service_config.ts";
import { canonicalAddress } from "../model/address.ts";
import type { Known, Parts } from "./section_reader.ts";

interface Persistence {
  readonly directory: string | undefined;
  readonly database: DatabaseConfig | undefined;
}

const IN_POSTGRES = "PGSQLPersist";

/** Java classes for a local store. */
const OF_OUR_OWN: readonly string[] = ["H2Persist", "InMemory"];

/** Reports whether anything is persisted, by the file alone. */
export function isKept(reader: Pick<KeyReader, "entry">): boolean {
  return reader.entry("persistence.directory") !== undefined || isShared(reader);
}

/** Reports whether PostgreSQL is configured. */
function isShared(reader: Pick<KeyReader, "entry">): boolean {
  return reader.entry("persistence.class")?.value.trim().endsWith(IN_POSTGRES) ?? false;
}

/** Reads the storage settings (rest-api.md 3.6). */
async function readPersistence(reader: KeyReader): Promise<Persistence | undefined> {
  const isPostgres = isShared(reader);
  const database = isPostgres ? await readPostgres(reader) : undefined;
  if (!isPostgres) reader.read(NO_POSTGRES);
  const persistence = reader.read(PERSISTENCE);
  if (persistence === undefined || (isPostgres && database === undefined)) return undefined;
  const { directory, kind } = persistence;
  if (kind === "InMemory") {
    reader.warn("persistence.class", "nothing is kept in memory alone, but in persistence.directory", kind);
  }
  if (kind !== IN_POSTGRES && !OF_OUR_OWN.includes(kind)) {
    const expected = `expected ${IN_POSTGRES} (PostgreSQL), or no class (SQLite, in persistence.directory)`;
    reader.error("persistence.class", expected, kind);
    return undefined;
  }
  return { directory, database };
}

async function readPostgres(reader: KeyReader): Promise<DatabaseConfig | undefined> {
  const read = reader.read(POSTGRES);
  if (read === undefined) return undefined;
  const { hosts, ports, tls, authorities, certificate, key, ...others } = read;
  if (others.digestSecret === undefined && others.password === "") {
    const expected =
      "expected a secret, the same for all instances: the database could be searched for typed names";
    reader.warn("persistence.digestSecret", expected);
  }
  const names = hostsOf(hosts);
  const [first = 5432] = ports;
  if (ports.length > 1 && ports.length !== names.length) {
    reader.error(
      "persistence.port",
      `expected one port, or ${names.length}: one for each host`,
      ports.join(","),
    );
    return undefined;
  }
  if ((certificate === undefined) !== (key === undefined)) {
    const [given, missing] = certificate === undefined ? ["key", "cert"] : ["cert", "key"];
    reader.error(`persistence.pgsql.ssl.${given}`, `expected persistence.pgsql.ssl.${missing} too`);
    return undefined;
  }
  const files = { rootcert: authorities, cert: certificate, key };
  for (const [name, file] of Object.entries(files)) {
    if (file !== undefined && tls) reader.expectFile(`persistence.pgsql.ssl.${name}`, file);
  }
  const far = names.find((name) => !isThisMachine(name));
  if (!tls && far !== undefined) {
    const expected = `expected true: on the way to ${far} others can read and change what is said`;
    reader.warn("persistence.pgsql.useSSL", expected, "false");
  }
  if (tls && key !== undefined) await warnOfReaders(reader, key);
  return {
    ...others,
    servers: names.map((host, index) => ({ host, port: ports[index] ?? first })),
    tls: tls ? { authorities, certificate, key } : undefined,
  };
}

function isThisMachine(host: string): boolean {
  return host.toLowerCase() === "localhost" || host.startsWith("127.") || host === "::1";
}

async function warnOfReaders(reader: KeyReader, key: string): Promise<void> {
  const { mode } = await Deno.stat(key).catch(() => ({ mode: null })); // absence is reported elsewhere
  if (mode !== null && (mode & 0o004) !== 0) {
    reader.warn(
      "persistence.pgsql.ssl.key",
      `every user of this machine can read it, expected: chmod o-r ${key}`,
      key,
    );
  }
}

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
