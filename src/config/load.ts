import { compare } from "../model/text.ts";
import { type Diagnostic, isError } from "../model/diagnostic.ts";
import { type EffectiveValue, KeyReader } from "./key_reader.ts";
import type { Kinds } from "./kind.ts";
import { loadProperties } from "./properties.ts";
import {
  readAttributes,
  readAuthentication,
  readDynamicAttributes,
  readNotifications,
} from "./read_kinds.ts";
import {
  readBrowsers,
  readGateway,
  readIssuedTokens,
  readOutgoing,
  readSecurity,
  readThrottling,
} from "./read_security.ts";
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

export interface LoadOptions {
  readonly kinds: Kinds;
  readonly environment: (name: string) => string | undefined; // for `${NAME}`
  readonly workingDirectory?: string; // base of relative paths. Default: the process's
  readonly hostName?: () => string; // for the external URL of a service on all interfaces
  readonly unknownKeys?: Diagnostic["severity"]; // severity of unknown keys with known prefixes
}

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
  const { parts: { tls: _, serverNames, ...read }, complete } = await readAll(reader, { kinds, hostName });
  const readable = deepFreeze(read);
  const unreadable = await reader.checkFiles();
  await reader.reportUnknown(unknownKeys);
  diagnostics.sort((a, b) =>
    compare(b.file === mainFile, a.file === mainFile) || compare(a.file, b.file) ||
    compare(a.line ?? -Infinity, b.line ?? -Infinity)
  );
  const { effective, dependsOn } = reader;
  const loaded = { readable, serverNames, unreadable, diagnostics, effective, dependsOn };
  return !isWhole(readable, complete) || diagnostics.some(isError) ? loaded : { ...loaded, config: readable };
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
async function readAll(
  reader: KeyReader,
  context: Pick<Known, "kinds" | "hostName">,
): Promise<{ readonly parts: Parts; readonly complete: boolean }> {
  let parts: Parts = {};
  let complete = true;
  for (const read of READERS) {
    const part = await read(reader, { ...parts, ...context });
    complete &&= part !== undefined;
    parts = { ...parts, ...part };
  }
  const [main = reader.properties.mainFile] = reader.sources;
  return { parts: { sources: { main, all: reader.sources }, ...parts }, complete };
}

function isWhole(_config: Partial<ServiceConfig>, complete: boolean): _config is ServiceConfig {
  return complete;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
