import type { Infer } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import {
  AUTHSERVICE,
  GROUPED_SERVER,
  type LOGICAL_KEYS,
  SERVER_INSTANCE,
  SINGLE_SERVER,
} from "./keys/server_keys.ts";
import { SERVER_TRUSTSTORE } from "./keys/tls_keys.ts";
import { readOwnTruststore } from "./read_tls_stores.ts";
import type { Parts } from "./section_reader.ts";
import type { DaemonInstanceConfig, LogicalServerConfig, ReservationsConfig } from "./service_config.ts";

/** Reserved because of keys and paths of `GET /rest/auth` (rest-api.md 1.9, 1.11). */
const RESERVED_NAMES = ["client", "server", "token", "tokens", "certificate"];

const PREFIX = "authservice.server.";

/** Reads logical servers and daemons (specification 2.1). */
export function readServers(reader: KeyReader): Parts | undefined {
  const keys = reader.read(AUTHSERVICE);
  if (keys === undefined) {
    reader.skip(PREFIX);
    return undefined;
  }
  if (keys.servers.length === 0) {
    reader.warn("authservice.servers", "no transfer server is configured, expected at least one name");
  }
  const servers: LogicalServerConfig[] = [];
  const configured = reader.namesBelow(PREFIX);
  const isThere = (name: string) => configured.has(name.split(".")[0] ?? name);
  const left = keys.servers.some(isThere) ? keys.servers.filter((name) => !isThere(name)) : [];
  for (const name of left) {
    const expected = `${name} has no settings and is ignored; expected ${PREFIX}${name}.host`;
    reader.warn("authservice.servers", expected, keys.servers.join(" "));
  }
  for (const name of keys.servers) {
    if (left.includes(name)) continue;
    checkName(reader, name, keys.servers);
    const server = readServer(reader, name);
    if (server !== undefined) servers.push(server);
  }
  for (const name of reader.namesBelow(PREFIX)) {
    if (keys.servers.some((server) => server === name || server.startsWith(`${name}.`))) continue;
    reader.ignoreBelow(`${PREFIX}${name}.`, `not used, ${name} is not in authservice.servers`);
  }
  return { serverNames: keys.servers, servers, resolveClientNames: keys.resolveClientNames };
}

function checkName(reader: KeyReader, name: string, all: readonly string[]): void {
  const clash = all.find((other) => other.startsWith(`${name}.`));
  const expected = RESERVED_NAMES.includes(name)
    ? `expected another name than ${name}, which has a meaning of its own in answers and addresses`
    : name.includes("-")
    ? `expected names without -, which stands between name and number of a daemon, not ${name}`
    : !/^[A-Za-z0-9_][A-Za-z0-9_.]{0,63}$/.test(name)
    ? `expected names of up to 64 letters, digits, _ and ., not ${name}`
    : clash !== undefined
    ? `expected names of which none continues another after a dot, as ${clash} does ${name}`
    : undefined;
  if (expected !== undefined) reader.error("authservice.servers", expected, all.join(" "));
}

function readServer(reader: KeyReader, name: string): LogicalServerConfig | undefined {
  const prefix = `${PREFIX}${name}.`;
  const truststore = readOwnTruststore(reader, SERVER_TRUSTSTORE, `${prefix}truststore.`);
  const numbers = [...reader.namesBelow(prefix)].filter((part) => /^\d+$/.test(part));
  if (numbers.length === 0) {
    const keys = reader.read(SINGLE_SERVER, prefix);
    if (keys === undefined) return undefined;
    const { host, port, commandHost, commandPort, ssl, expectedDn, allowUnverifiable, ...logical } = keys;
    const instance = { host, port, commandHost, commandPort, ssl, expectedDn, allowUnverifiable };
    checkInstance(reader, prefix, instance);
    return { ...toServer(reader, name, logical, [instance]), truststore };
  }
  const single = ["host", "port", "commandHost", "commandPort"].find((key) => reader.entry(prefix + key));
  if (single !== undefined) {
    const expected = `expected ${name} to have either this key or numbered ones such as ${prefix}1.${single}`;
    reader.error(prefix + single, expected, reader.entry(prefix + single)?.value);
    reader.skip(prefix);
    return undefined;
  }
  const keys = reader.read(GROUPED_SERVER, prefix);
  if (keys?.allowUnverifiable === true) warnOfUnverifiable(reader, prefix);
  const instances = readInstances(reader, prefix, numbers, keys);
  return keys && instances && { ...toServer(reader, name, keys, instances), truststore };
}

function readInstances(
  reader: KeyReader,
  prefix: string,
  numbers: readonly string[],
  group: Pick<DaemonInstanceConfig, "expectedDn" | "allowUnverifiable"> | undefined,
): DaemonInstanceConfig[] | undefined {
  const instances: DaemonInstanceConfig[] = [];
  let count = 0;
  while (numbers.includes(String(count + 1))) count++;
  if (count === 0) {
    const first = reader.firstBelow(prefix)?.key ?? prefix;
    reader.error(first, `expected numbers that count from 1, ${prefix}1. is missing`);
    reader.skip(prefix);
    return undefined;
  }
  for (const number of numbers) {
    if (/^[1-9]/.test(number) && Number(number) <= count) continue;
    const why = `not used, as ${prefix}${count + 1}. is missing: numbers count from 1 without gaps`;
    reader.ignoreBelow(`${prefix}${number}.`, why);
  }
  for (let number = 1; number <= count; number++) {
    const instance = reader.read(SERVER_INSTANCE, `${prefix}${number}.`);
    if (instance === undefined) continue;
    checkInstance(reader, `${prefix}${number}.`, instance);
    instances.push({
      ...instance,
      expectedDn: instance.expectedDn ?? group?.expectedDn,
      allowUnverifiable: instance.allowUnverifiable || group?.allowUnverifiable === true,
    });
  }
  return instances.length === count ? instances : undefined;
}

function checkInstance(
  reader: KeyReader,
  prefix: string,
  { ssl, allowUnverifiable }: DaemonInstanceConfig,
): void {
  if (allowUnverifiable) warnOfUnverifiable(reader, prefix);
  if (!ssl) {
    reader.warn(
      `${prefix}ssl`,
      "anyone who reaches the command socket can read and send commands; for tests only",
    );
  }
}

function warnOfUnverifiable(reader: KeyReader, prefix: string): void {
  reader.warn(
    `${prefix}allowUnverifiableCertificate`,
    "anyone who has seen the daemon's certificate can impersonate the daemon, expected false and a certificate of X.509 " +
      "version 3: see docs/troubleshooting.md",
    "true",
  );
}

function toServer(
  reader: KeyReader,
  name: string,
  keys: Infer<typeof LOGICAL_KEYS>,
  instances: readonly DaemonInstanceConfig[],
) {
  const { description, reservations: enabled, reservationsFile: file, reservationsTimeZone: timeZone } = keys;
  const { methods, requiredAcr, maxAuthAge, networks } = keys;
  let reservations: ReservationsConfig | undefined;
  if (enabled && file === undefined) {
    reader.warn(
      `${PREFIX}${name}.reservations.enable`,
      `no reservation is in effect, expected ${PREFIX}${name}.reservations.file too`,
      "true",
    );
  } else if (enabled && file !== undefined) reservations = { file, timeZone };
  const logins = { methods, requiredAcr, maxAuthAge, networks };
  return { name, description, instances, reservations, logins };
}
