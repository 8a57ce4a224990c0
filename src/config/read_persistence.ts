import { canonicalAddress, hostsOf } from "../model/address.ts";
import type { KeyReader } from "./key_reader.ts";
import { isLocalHost } from "./kind.ts";
import { NO_POSTGRES, PERSISTENCE, POSTGRES, SHARE } from "./keys/sharing_keys.ts";
import type { DatabaseConfig, SharingConfig } from "./service_config.ts";
import type { Known, Parts } from "./section_reader.ts";

const IN_POSTGRES = "PGSQLPersist";

const LOCAL_STORES: readonly string[] = ["H2Persist", "InMemory"]; // Java classes for a local store

/** Reports whether anything is persisted, by the file alone. */
export function hasPersistence(reader: Pick<KeyReader, "entry">): boolean {
  return reader.entry("persistence.directory") !== undefined || isShared(reader);
}

function isShared(reader: Pick<KeyReader, "entry">): boolean {
  return reader.entry("persistence.class")?.value.trim().endsWith(IN_POSTGRES) ?? false;
}

function readPersistence(reader: KeyReader): Pick<SharingConfig, "directory" | "database"> | undefined {
  const isPostgres = isShared(reader);
  const database = isPostgres ? readPostgres(reader) : undefined;
  if (!isPostgres) reader.read(NO_POSTGRES);
  const persistence = reader.read(PERSISTENCE);
  if (persistence === undefined || (isPostgres && database === undefined)) return undefined;
  const { directory, kind } = persistence;
  if (kind === "InMemory") {
    reader.warn("persistence.class", "nothing is kept in memory alone, but in persistence.directory", kind);
  }
  if (kind !== IN_POSTGRES && !LOCAL_STORES.includes(kind)) {
    const expected = `expected ${IN_POSTGRES} (PostgreSQL), or no class (SQLite, in persistence.directory)`;
    reader.error("persistence.class", expected, kind);
    return undefined;
  }
  return { directory, database };
}

function readPostgres(reader: KeyReader): DatabaseConfig | undefined {
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
  for (const [name, file] of Object.entries({ rootcert: authorities, cert: certificate, key })) {
    if (file !== undefined && tls) reader.expectFile(`persistence.pgsql.ssl.${name}`, file);
  }
  const far = names.find((name) => !isLocalHost(name));
  if (!tls && far !== undefined) {
    const expected = `expected true: on the way to ${far} others can read and change what is said`;
    reader.warn("persistence.pgsql.useSSL", expected, "false");
  }
  if (tls && key !== undefined) reader.noteSecret({ key: "persistence.pgsql.ssl.key", file: key });
  return {
    ...others,
    servers: names.map((host, index) => ({ host, port: ports[index] ?? first })),
    tls: tls ? { authorities, certificate, key } : undefined,
  };
}

/** Reads data sharing (rest-api.md 3.6). */
export function readSharing(reader: KeyReader, { serverNames }: Known): Parts | undefined {
  const share = reader.read(SHARE);
  const persistence = readPersistence(reader);
  if (share === undefined || persistence === undefined) return undefined;
  const shared = share.servers.filter((name) => serverNames?.includes(name) !== false);
  const unknown = share.servers.filter((name) => !shared.includes(name));
  if (unknown.length > 0) {
    const expected = `expected names from authservice.servers; ignored: ${unknown.join(" ")}`;
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
