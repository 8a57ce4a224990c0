import { compare } from "../model/compare.ts";
import { type Diagnostic, isError } from "../model/diagnostic.ts";
import { type EffectiveValue, KeyReader } from "./key_reader.ts";
import type { Kinds } from "./kind.ts";
import { loadProperties } from "./load_properties.ts";
import { readAttributes, readDynamicAttributes } from "./read_attributes.ts";
import { readAuthentication } from "./read_authentication.ts";
import {
  readBrowsers,
  readGateway,
  readIssuedTokens,
  readOutgoing,
  readSecurity,
  readThrottling,
} from "./read_security.ts";
import { readNotifications } from "./read_notifications.ts";
import { readServers } from "./read_servers.ts";
import { readSharing } from "./read_persistence.ts";
import {
  readAudit,
  readControl,
  readFeatures,
  readHttps,
  readLogging,
  readMetrics,
  readSite,
} from "./read_site.ts";
import { readTlsStores } from "./read_tls_stores.ts";
import type { Known, Parts, SectionReader } from "./section_reader.ts";
import type { ServiceConfig } from "./service_config.ts";

/** Dependencies of reading a configuration. */
export interface LoadOptions {
  readonly kinds: Kinds;
  readonly environment: (name: string) => string | undefined; // for `${NAME}`
  readonly workingDirectory?: string; // base of relative paths. Default: the process's
  readonly hostName?: () => string; // for the external URL of a service on all interfaces
  readonly unknownKeys?: Diagnostic["severity"]; // severity of unknown keys with known prefixes
}

/** Result of reading a configuration. */
interface LoadedConfiguration {
  readonly config?: ServiceConfig; // absent after errors
  readonly readable: Partial<ServiceConfig>; // valid parts, despite errors elsewhere
  readonly serverNames?: readonly string[]; // logical servers, even invalid ones; absent if unknown
  readonly unreadable: readonly string[]; // required files that are unreadable, absolute
  readonly diagnostics: readonly Diagnostic[];
  readonly dependsOn: readonly string[]; // source and referenced files, absolute
  readonly effective: readonly EffectiveValue[]; // all keys in the order of reading
}

/** Reads the main file and its includes. Returns diagnostics by line, and the configuration without errors. */
export async function loadConfiguration(
  mainFile: string,
  { kinds, environment, workingDirectory = Deno.cwd(), hostName = Deno.hostname, unknownKeys = "error" }:
    LoadOptions,
): Promise<LoadedConfiguration> {
  const diagnostics: Diagnostic[] = [];
  const properties = await loadProperties(mainFile, { environment, workingDirectory }, diagnostics);
  if (properties.entries.size === 0 && diagnostics.length > 0) {
    return { readable: {}, unreadable: [], diagnostics, effective: [], dependsOn: properties.files };
  }
  const reader = new KeyReader(properties, workingDirectory, diagnostics);
  const { tls: _, serverNames, ...read } = await readAll(reader, { kinds, hostName });
  const readable = deepFreeze(read);
  const unreadable = await reader.checkFiles();
  await reader.reportUnknown(unknownKeys);
  diagnostics.sort(byPlace(mainFile));
  const { effective, dependsOn } = reader;
  const loaded = { readable, serverNames, unreadable, diagnostics, effective, dependsOn };
  return !isWhole(readable) || diagnostics.some(isError) ? loaded : { ...loaded, config: readable };
}

/** In order: each may use the results of those before it. */
const READERS: readonly SectionReader[] = [
  readSecurity,
  readGateway,
  readSite,
  readFeatures,
  readServers,
  readAuthentication,
  readHttps,
  readAttributes,
  readDynamicAttributes,
  readIssuedTokens,
  readBrowsers,
  readThrottling,
  readSharing,
  readNotifications,
  readOutgoing,
  readLogging,
  readAudit,
  readControl,
  readMetrics,
  readTlsStores,
];

/** Reads every section despite errors, to report all diagnostics together. */
async function readAll(reader: KeyReader, context: Pick<Known, "kinds" | "hostName">): Promise<Parts> {
  let parts: Parts = {};
  for (const read of READERS) parts = { ...parts, ...await read(reader, { ...parts, ...context }) };
  const [main = reader.properties.mainFile] = reader.sources;
  return { sources: { main, all: reader.sources }, ...parts };
}

/** Required sections; certificates are optional. */
const SECTIONS = [
  "sources",
  "site",
  "features",
  "https",
  "servers",
  "resolveClientNames",
  "authentication",
  "attributes",
  "dynamicAttributes",
  "accessControl",
  "additionalServiceIdentifiers",
  "gateway",
  "issuedTokens",
  "browsers",
  "throttling",
  "sharing",
  "notifications",
  "outgoing",
  "logging",
  "audit",
  "control",
  "metrics",
] as const satisfies readonly (keyof ServiceConfig)[];

function isWhole(config: Partial<ServiceConfig>): config is ServiceConfig {
  return SECTIONS.every((section) => section in config);
}

function byPlace(mainFile: string): (a: Diagnostic, b: Diagnostic) => number {
  return (a, b) => {
    return compare(b.file === mainFile, a.file === mainFile) || compare(a.file, b.file) ||
      compare(a.line ?? -Infinity, b.line ?? -Infinity);
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
