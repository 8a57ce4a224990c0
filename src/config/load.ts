import { isError, type Problem } from "../model/problem.ts";
import { type EffectiveValue, KeyReader } from "./key_reader.ts";
import {
  CLIENT_TRUSTSTORE,
  CREDENTIAL,
  PROVIDER_TRUSTSTORE,
  TRUSTED_ASSERTION_ISSUERS,
  TRUSTSTORE,
} from "./keys/tls_keys.ts";
import { loadProperties } from "./load_properties.ts";
import { ATTRIBUTES, DYNAMIC_ATTRIBUTES } from "./keys/attribute_keys.ts";
import { kindOf, type Kinds } from "./kind.ts";
import { readAttributes } from "./read_attributes.ts";
import { readAuthentication } from "./read_authentication.ts";
import {
  readGateway,
  readIssuedTokens,
  readOutgoing,
  readRegulation,
  readSecurity,
} from "./read_security.ts";
import { readServers } from "./read_servers.ts";
import { readSharing } from "./read_sharing.ts";
import {
  readAudit,
  readControl,
  readFeatures,
  readHttps,
  readLogging,
  readMetrics,
  readSite,
} from "./read_site.ts";
import { readCredential, readOwnTruststore, readTruststore } from "./read_tls_stores.ts";
import type { AuthenticationConfig, ServiceConfig, TruststoreConfig } from "./service_config.ts";

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
  readonly unknownKeys?: Problem["severity"];
}

/** What came of reading the configuration. */
export interface LoadedConfiguration {
  /** Absent if there are errors. */
  readonly config?: ServiceConfig;
  /** The parts that could be read, errors elsewhere or not: what they name can be looked at all the same. */
  readonly readable: Partial<ServiceConfig>;
  /** All logical servers that are named, also those with errors; absent if even that cannot be read. */
  readonly serverNames?: readonly string[];
  /** Absolute paths of files that are needed, and cannot be read. */
  readonly unreadable: readonly string[];
  readonly problems: readonly Problem[];
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
  const problems: Problem[] = [];
  const properties = await loadProperties(mainFile, { environment, workingDirectory }, problems);
  if (properties.entries.size === 0 && problems.length > 0) {
    return { readable: {}, unreadable: [], problems, effective: [], dependsOn: properties.files };
  }
  const reader = new KeyReader(properties, workingDirectory, problems);
  const { serverNames, ...read } = await readAll(reader, kinds, hostName);
  const readable = deepFreeze(read);
  const unreadable = await reader.checkFiles();
  reader.reportUnknown(unknownKeys);
  problems.sort(byPlace(mainFile));
  const { effective, dependsOn } = reader;
  const loaded = {
    readable,
    ...(serverNames && { serverNames }),
    unreadable,
    problems,
    effective,
    dependsOn,
  };
  return !isWhole(readable) || problems.some(isError) ? loaded : { ...loaded, config: readable };
}

/** Reads every section, whether or not an earlier one was in order, so that all problems come to light together. */
async function readAll(
  reader: KeyReader,
  kinds: Kinds,
  hostName: () => string,
): Promise<Partial<ServiceConfig> & Pick<LoadedConfiguration, "serverNames">> {
  const security = readSecurity(reader);
  const tls = security?.tls ?? true;
  const gateway = readGateway(reader);
  const site = readSite(reader, { tls, gateway: gateway?.enabled ?? false, hostName });
  const features = readFeatures(reader);
  const servers = readServers(reader);
  const authentication = await readAuthentication(reader, kinds.methods);
  const looksAtCertificates = gateway?.enabled !== true &&
    authentication?.methods.some((method) => kindOf(method, kinds.methods).looksAtCertificates) === true;
  const https = readHttps(reader, { tls, gateway: gateway?.enabled ?? false, looksAtCertificates });
  const attributes = await readAttributes(reader, ATTRIBUTES, kinds.sources);
  const dynamicAttributes = await readAttributes(reader, DYNAMIC_ATTRIBUTES, kinds.sources);
  const issuedTokens = readIssuedTokens(reader);
  const regulation = readRegulation(reader);
  const sharing = readSharing(reader, servers?.names);
  const outgoing = readOutgoing(reader);
  const logging = readLogging(reader);
  const audit = readAudit(reader, logging);
  const control = readControl(reader);
  const metrics = readMetrics(reader);

  const speaksTls = tls || servers === undefined ||
    servers.servers.some(({ instances }) => instances.some(({ ssl }) => ssl));
  const wanted = (prefix: string) => speaksTls || reader.firstBelow(prefix) !== undefined;
  const credential = wanted(CREDENTIAL.prefix) ? readCredential(reader) : undefined;
  const truststore = wanted(TRUSTSTORE.prefix) ? readTruststore(reader) : undefined;
  const clientTruststore = readOwnTruststore(reader, CLIENT_TRUSTSTORE);
  const providerTruststore = readOwnTruststore(reader, PROVIDER_TRUSTSTORE);
  const trustedAssertionIssuers = readOwnTruststore(reader, TRUSTED_ASSERTION_ISSUERS);
  warnOfProviders(reader, authentication?.methods ?? [], providerTruststore ?? truststore);
  const [main = reader.properties.mainFile] = reader.sources;
  return {
    sources: { main, all: reader.sources },
    ...site,
    ...(features && { features }),
    ...(https && { https }),
    credential,
    truststore,
    clientTruststore,
    providerTruststore,
    trustedAssertionIssuers,
    ...(servers && { servers: servers.servers, serverNames: servers.names }),
    ...(authentication && { authentication }),
    ...(attributes && { attributes }),
    ...(dynamicAttributes && { dynamicAttributes }),
    ...(security && {
      accessControl: security.accessControl,
      additionalServiceIdentifiers: security.additionalServiceIdentifiers,
    }),
    ...(gateway && { gateway }),
    ...(issuedTokens && { issuedTokens }),
    ...(regulation && { regulation }),
    ...(sharing && { sharing }),
    ...(outgoing && { outgoing }),
    ...(logging && { logging }),
    ...(audit && { audit }),
    ...(control && { control }),
    ...(metrics && { metrics }),
  };
}

/** The sections without which there is no configuration; certificates need not be configured. */
const SECTIONS = [
  "sources",
  "site",
  "features",
  "https",
  "servers",
  "authentication",
  "attributes",
  "dynamicAttributes",
  "accessControl",
  "additionalServiceIdentifiers",
  "gateway",
  "issuedTokens",
  "regulation",
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

/** The chains of identity providers are judged by the platform, which minds no revocation lists. */
function warnOfProviders(
  reader: KeyReader,
  methods: AuthenticationConfig["methods"],
  truststore: TruststoreConfig | undefined,
): void {
  const asked = methods.find((method) => "address" in method);
  if (asked === undefined || truststore?.revocation?.mode !== "REQUIRE") return;
  const expected =
    `minded for clients and daemons, but not for ${asked.name}: identity providers are trusted without revocation lists`;
  reader.warn(`${TRUSTSTORE.prefix}crlMode`, expected, "REQUIRE");
}

function byPlace(mainFile: string): (a: Problem, b: Problem) => number {
  return (a, b) => {
    if (a.file !== b.file) {
      if (a.file === mainFile) return -1;
      return b.file === mainFile || a.file > b.file ? 1 : -1;
    }
    return (a.line ?? 0) - (b.line ?? 0);
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
