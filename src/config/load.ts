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

/** What configuration is read with besides files. */
export interface LoadOptions {
  /** What methods and sources there can be. */
  readonly kinds: Kinds;
  /** Value of an environment variable, for `${NAME}`. */
  readonly environment: (name: string) => string | undefined;
  /** Folder that relative paths start from; by default the process's. */
  readonly workingDirectory?: string;
  /** Name of this machine, for the external URL of a service that listens on all interfaces. */
  readonly hostName?: () => string;
  /** What keys are that this service does not know, though they begin like its own; a host's files have many. */
  readonly unknownKeys?: Diagnostic["severity"];
}

/** What came of reading the configuration. */
interface LoadedConfiguration {
  /** Absent if there are errors. */
  readonly config?: ServiceConfig;
  /** The parts that could be read, errors elsewhere or not: what they name can be looked at all the same. */
  readonly readable: Partial<ServiceConfig>;
  /** All logical servers that are named, also those with errors; absent if even that cannot be read. */
  readonly serverNames?: readonly string[];
  /** Absolute paths of files that are needed, and cannot be read. */
  readonly unreadable: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** The files it is made of and those it names, absolute, as far as they could be told. */
  readonly dependsOn: readonly string[];
  /** Every key that was looked at, in the order in which that happened. */
  readonly effective: readonly EffectiveValue[];
}

/**
 * Reads the main configuration file and all it includes.
 * @returns All that is wrong or doubtful, sorted by file and line; and the configuration, unless there are errors.
 */
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
  reader.reportUnknown(unknownKeys);
  diagnostics.sort(byPlace(mainFile));
  const { effective, dependsOn } = reader;
  const loaded = { readable, serverNames, unreadable, diagnostics, effective, dependsOn };
  return !isWhole(readable) || diagnostics.some(isError) ? loaded : { ...loaded, config: readable };
}

/** Each reads its part of the file, and sees what those before it have read. */
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
  readOutgoing,
  readLogging,
  readAudit,
  readControl,
  readMetrics,
  readTlsStores,
];

/** Reads every section, whether or not an earlier one was in order, so that all problems come to light together. */
async function readAll(reader: KeyReader, context: Pick<Known, "kinds" | "hostName">): Promise<Parts> {
  let parts: Parts = {};
  for (const read of READERS) parts = { ...parts, ...await read(reader, { ...parts, ...context }) };
  const [main = reader.properties.mainFile] = reader.sources;
  return { sources: { main, all: reader.sources }, ...parts };
}

/** The sections without which there is no configuration; certificates need not be configured. */
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
