import { resolve } from "node:path";
import type { Infer } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import {
  CLIENT_TRUSTSTORE,
  CREDENTIAL,
  PROVIDER_TRUSTSTORE,
  TRUSTED_ASSERTION_ISSUERS,
  TRUSTSTORE,
} from "./keys/tls_keys.ts";
import type { Known, Parts } from "./section_reader.ts";
import type {
  AuthenticationConfig,
  CredentialConfig,
  RevocationConfig,
  TruststoreConfig,
} from "./service_config.ts";

/** Reads paths of certificate, key and truststores; `loadTlsMaterial` reads their content. */
export function readTlsStores(
  reader: KeyReader,
  { tls = true, servers, authentication, audit }: Known,
): Parts {
  const speaksTls = tls || servers === undefined || audit?.to === "syslog" ||
    servers.some(({ instances }) => instances.some(({ ssl }) => ssl));
  const wanted = (prefix: string) => speaksTls || reader.firstBelow(prefix) !== undefined;
  const credential = wanted(CREDENTIAL.prefix) ? readCredential(reader) : undefined;
  const truststore = wanted(TRUSTSTORE.prefix) ? readTruststore(reader, TRUSTSTORE) : undefined;
  const clientTruststore = readOwnTruststore(reader, CLIENT_TRUSTSTORE);
  const providerTruststore = readOwnTruststore(reader, PROVIDER_TRUSTSTORE);
  const trustedAssertionIssuers = readOwnTruststore(reader, TRUSTED_ASSERTION_ISSUERS);
  warnOfProviders(reader, authentication?.authenticators ?? [], providerTruststore ?? truststore);
  return { credential, truststore, clientTruststore, providerTruststore, trustedAssertionIssuers };
}

/** Warns that the platform ignores revocation lists for providers. */
function warnOfProviders(
  reader: KeyReader,
  authenticators: AuthenticationConfig["authenticators"],
  truststore: TruststoreConfig | undefined,
): void {
  const provider = authenticators.find((authenticator) => "address" in authenticator);
  if (provider === undefined || truststore?.revocation?.mode !== "REQUIRE") return;
  const expected =
    `the service checks revocation lists for clients and daemons, but not for ${provider.name} and other identity providers`;
  reader.warn(`${TRUSTSTORE.prefix}crlMode`, expected, "REQUIRE");
}

function readCredential(reader: KeyReader): CredentialConfig | undefined {
  const { prefix } = CREDENTIAL;
  const keys = reader.read(CREDENTIAL);
  if (keys === undefined) return undefined;
  const { keyPath, keyAlias, keyPassword, format = "auto" } = keys;
  if (keyPath !== undefined && (keyAlias !== undefined || keyPassword !== undefined)) {
    const other = keyAlias !== undefined ? "keyAlias" : "keyPassword";
    const expected = `expected either keyPath (PEM, DER) or ${other} (key stores), both are ambiguous`;
    reader.error(`${prefix}keyPath`, expected, keyPath);
  }
  return {
    ...keys,
    format,
    origin: reader.origin(`${prefix}path`),
    keyOrigin: reader.origin(`${prefix}${keyPath === undefined ? "path" : "keyPath"}`),
  };
}

/** Reads an optional truststore. @param prefix If it contains the operator's names. */
export function readOwnTruststore(
  reader: KeyReader,
  section: typeof TRUSTSTORE,
  prefix = section.prefix,
): TruststoreConfig | undefined {
  return reader.firstBelow(prefix) && readTruststore(reader, section, prefix);
}

const WITHOUT_LISTS = [PROVIDER_TRUSTSTORE.prefix, TRUSTED_ASSERTION_ISSUERS.prefix];

function readRevocation(
  reader: KeyReader,
  prefix: string,
  { type, crlMode: mode, crlLocations }: Infer<typeof TRUSTSTORE.keys>,
): RevocationConfig | undefined {
  if (mode === "IGNORE") return undefined;
  if (WITHOUT_LISTS.includes(prefix)) {
    if (mode === "REQUIRE") {
      const expected = "the service checks revocation lists for clients and daemons only, expected IGNORE";
      reader.error(`${prefix}crlMode`, expected, mode);
    }
    return undefined;
  }
  const locations = crlLocations.flatMap(({ name, value }) => {
    if (!/^[a-z]+:\/\//i.test(value)) return [resolve(reader.workingDirectory, value)];
    reader.warn(`${prefix}crlLocations.${name}`, "ignored: revocation lists are read from files only", value);
    return [];
  });
  if (mode !== "REQUIRE" && locations.length === 0 && type !== "openssl") return undefined;
  const first = reader.firstBelow(`${prefix}crlLocations.`)?.key ??
    written(reader, prefix, ["crlMode", "opensslPath", "type"]);
  return { mode, locations, origin: reader.origin(first) };
}

function written(reader: KeyReader, prefix: string, names: readonly string[]): string {
  return names.map((name) => prefix + name).find((key) => reader.entry(key) !== undefined) ?? `${prefix}type`;
}

function readTruststore(
  reader: KeyReader,
  section: typeof TRUSTSTORE,
  prefix = section.prefix,
): TruststoreConfig | undefined {
  const keys = reader.read(section, prefix);
  if (keys === undefined) return undefined;
  const first = reader.firstBelow(prefix)?.key ?? `${prefix}type`;
  if (keys.ocspMode === "REQUIRE") {
    const expected =
      `OCSP responders are not asked, expected IGNORE, and ${prefix}crlMode=REQUIRE with lists in ` +
      `${prefix}crlLocations.1`;
    reader.error(`${prefix}ocspMode`, expected, keys.ocspMode);
  }
  const revocation = readRevocation(reader, prefix, keys);
  const common = { updateIntervalSeconds: keys.updateInterval, revocation };
  const detected = keys.keystorePath === undefined ? undefined : "keystore";
  const type = keys.type ?? (keys.directoryLocations.length > 0 ? "directory" : detected);
  switch (type) {
    case undefined:
      reader.error(first, `expected ${prefix}type too: directory, keystore or openssl`);
      return undefined;
    case "java_default": {
      const expected =
        "there is no Java here to take certificates from, expected directory with the CA certificates " +
        `you trust (${prefix}directoryLocations.1=conf/trusted/*.pem)`;
      reader.error(`${prefix}type`, expected, type);
      return undefined;
    }
    case "directory": {
      const locations = keys.directoryLocations.map(({ value }) => value);
      if (locations.length === 0) {
        reader.error(first, `expected ${prefix}directoryLocations.1 too, such as conf/trusted/*.pem`);
        return undefined;
      }
      const origin = reader.origin(reader.firstBelow(`${prefix}directoryLocations.`)?.key ?? first);
      return { ...common, type, locations, encoding: keys.directoryEncoding, origin };
    }
    case "keystore": {
      const { keystorePath: path, keystorePassword: password, keystoreFormat: format = "auto" } = keys;
      if (path === undefined || password === undefined) {
        const missing = path === undefined ? "keystorePath" : "keystorePassword";
        reader.error(first, `expected ${prefix}${missing} too`);
        return undefined;
      }
      return { ...common, type, path, password, format, origin: reader.origin(`${prefix}keystorePath`) };
    }
    case "openssl": {
      const { opensslPath: path, opensslNsMode } = keys;
      const mode = opensslNsMode.toUpperCase();
      if (mode.endsWith("_REQUIRE")) {
        reader.error(`${prefix}opensslNsMode`, "name spaces are not evaluated, expected IGNORE", mode);
      }
      const ofClients = reader.firstBelow(CLIENT_TRUSTSTORE.prefix) ? CLIENT_TRUSTSTORE : TRUSTSTORE;
      const severity = section === ofClients ? "error" : "warning";
      const origin = reader.origin(written(reader, prefix, ["opensslPath"]));
      return { ...common, type, path, ...mode !== "IGNORE" && { nameSpaces: severity }, origin };
    }
  }
}
