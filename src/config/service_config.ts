import type { ResponsePolicy } from "../model/response_headers.ts";
import type { Infer, Table } from "./key.ts";
import type { CHAIN } from "./keys/attribute_keys.ts";
import type { AUTHENTICATION } from "./keys/authentication_keys.ts";
import type { CLIENT } from "./keys/client_keys.ts";
import type { CONTAINER, FEATURES, LOGGING } from "./keys/container_keys.ts";
import type { HTTP_SERVER } from "./keys/http_server_keys.ts";
import type { BROWSERS, GATEWAY, ISSUED_TOKENS, THROTTLING } from "./keys/security_keys.ts";
import type { LOGICAL_KEYS, SERVER_INSTANCE } from "./keys/server_keys.ts";
import type { PERSISTENCE, POSTGRES, SHARE } from "./keys/sharing_keys.ts";
import type { CREDENTIAL } from "./keys/tls_keys.ts";

/** Configured authenticator or attribute source; `kind`, a simple Java class name, determines its other members. */
export interface KindConfig {
  readonly kind: string;
  readonly name: string; // as configured, such as `SSHKEY`
}

/** Values of a section, whose keys have the documentation. */
type Values<S extends { readonly keys: Table }> = Infer<S["keys"]>;

/** Complete, checked configuration as frozen plain data. `…Secret` and `password` fields are secret: never log it whole. */
export interface ServiceConfig {
  readonly sources: {
    readonly main: string;
    readonly all: readonly string[]; // main file, includes and expression files, absolute
  };
  readonly site: SiteConfig;
  /** Enabled services; others respond 404. */
  readonly features: Pick<Values<typeof FEATURES>, "auth" | "share" | "access" | "files" | "admin">;
  readonly https: HttpsConfig;
  readonly credential: CredentialConfig | undefined; // absent only without HTTPS, and TLS to daemons and log server
  /** For clients, daemons and identity providers; absent only without TLS. */
  readonly truststore: TruststoreConfig | undefined;
  readonly clientTruststore: TruststoreConfig | undefined; // absent: the common truststore
  /** For identity providers and attribute sources; absent: the common truststore. */
  readonly providerTruststore: TruststoreConfig | undefined;
  readonly trustedAssertionIssuers: TruststoreConfig | undefined; // SAML issuers' own certificates
  readonly servers: readonly LogicalServerConfig[];
  readonly resolveClientNames: boolean; // whether to resolve host names in client addresses
  readonly authentication: AuthenticationConfig;
  readonly attributes: AttributesConfig;
  readonly dynamicAttributes: AttributesConfig; // they run last; their account and groups win
  readonly accessControl: { readonly enabled: boolean }; // false: every caller may do everything (tests only)
  readonly gateway: GatewayConfig;
  readonly issuedTokens: Omit<Values<typeof ISSUED_TOKENS>, "trustedIssuerCert" | "trustedLocalIssuer"> & {
    readonly trustedIssuerFiles: readonly string[]; // PEM files of trusted issuers
  };
  readonly browsers: Values<typeof BROWSERS>;
  readonly throttling: ThrottlingConfig;
  readonly sharing: SharingConfig;
  readonly notifications: readonly KindConfig[]; // destinations of notifications
  readonly outgoing: OutgoingConfig;
  readonly logging: LoggingConfig;
  readonly audit: AuditConfig;
  readonly control: ControlConfig;
  readonly metrics: { readonly listen: { readonly host: string; readonly port: number } | undefined };
  /** Further audiences and recipients of SAML assertions. */
  readonly additionalServiceIdentifiers: readonly string[];
  readonly liveReload: boolean; // whether to reload a changed main file
  readonly drainSeconds: number;
}

export interface SiteConfig extends Pick<Values<typeof CONTAINER>, "name" | "host" | "port"> {
  /** Without trailing slash; contains port 0 if so configured, see `externalUrlAt`. */
  readonly externalUrl: string;
  readonly externalUrlGiven: boolean; // whether the URL was configured
}

export interface HttpsConfig
  extends ResponsePolicy, Pick<Values<typeof HTTP_SERVER>, "maxConnections" | "maxIdleMs" | "proxyPeers"> {
  readonly tls: boolean; // false: plain HTTP, for tests or behind a local proxy
  readonly clientCertificate: "none" | "requested" | "required";
  readonly minTlsVersion: "TLSv1.2" | "TLSv1.3";
  readonly maxTlsVersion: "TLSv1.2" | "TLSv1.3";
}

/** Place of a setting, for messages. */
export interface Origin {
  readonly file: string;
  readonly line?: number;
  readonly key: string;
}

/** Paths of certificate and key; see `loadTlsMaterial`. */
export interface CredentialConfig extends Omit<Values<typeof CREDENTIAL>, "format"> {
  readonly origin: Origin;
  readonly format: "auto" | NonNullable<Values<typeof CREDENTIAL>["format"]>;
  readonly keyOrigin: Origin; // place of `keyPath`, else `path`
}

/** Paths of trusted certificates; see `loadTlsMaterial`. */
export type TruststoreConfig =
  & {
    readonly updateIntervalSeconds: number; // interval of checks for new files; negative: never
    readonly origin: Origin;
    readonly revocation: RevocationConfig | undefined; // absent: no revocation check
  }
  & (
    | {
      readonly type: "directory";
      readonly locations: readonly string[]; // absolute, possibly with `*` and `?`
      readonly encoding: "PEM" | "DER";
    }
    | {
      readonly type: "keystore";
      readonly path: string;
      readonly password: string;
      readonly format: "auto" | "pkcs12" | "jks";
    }
    | { readonly type: "openssl"; readonly path: string; readonly nameSpaces?: "error" | "warning" } // of files with any
  );

export interface RevocationConfig {
  readonly mode: "IF_VALID" | "REQUIRE";
  readonly locations: readonly string[]; // absolute, possibly with `*` and `?`
  readonly origin: Origin;
}

export interface LogicalServerConfig {
  readonly name: string;
  readonly description: string;
  readonly instances: readonly DaemonInstanceConfig[]; // at least one; numbered from 1
  readonly reservations: ReservationsConfig | undefined;
  readonly logins: Pick<Infer<typeof LOGICAL_KEYS>, "methods" | "requiredAcr" | "maxAuthAge" | "networks">;
  readonly truststore: TruststoreConfig | undefined; // absent: the common truststore
}

/** Daemon; clients get its host verbatim, see `hostsOf`. */
export type DaemonInstanceConfig = Values<typeof SERVER_INSTANCE>;

export interface ReservationsConfig {
  readonly file: string; // may be created later
  readonly timeZone: string | undefined; // IANA name; absent: the host's
}

/** Authenticators, and whether credentials are required. */
export interface AuthenticationConfig extends Omit<Values<typeof AUTHENTICATION>, "order"> {
  readonly authenticators: readonly KindConfig[]; // in order; empty: all callers are anonymous
}

export interface AttributesConfig extends Omit<Infer<typeof CHAIN>, "order"> {
  readonly sources: readonly KindConfig[]; // as configured, without the implicit automatic source
}

/** Gateway and its addresses; without trusted peers its headers are ignored. */
export type GatewayConfig = Values<typeof GATEWAY>;

export type ThrottlingConfig = Values<typeof THROTTLING>;

/** Data sharing; with `servers` there is a directory or database. */
export interface SharingConfig
  extends Omit<Values<typeof SHARE>, "clientAddresses">, Pick<Values<typeof PERSISTENCE>, "directory"> {
  readonly database: DatabaseConfig | undefined; // absent: everything is in the directory
  /** Addresses for own sessions; empty: the connection's local address. */
  readonly clientAddresses: readonly string[];
}

export interface DatabaseConfig
  extends Omit<Values<typeof POSTGRES>, "hosts" | "ports" | "tls" | "authorities" | "certificate" | "key"> {
  /** At least one; one accepts changes. */
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Reread for each connection; absent: no TLS. */
  readonly tls: Pick<Values<typeof POSTGRES>, "authorities" | "certificate" | "key"> | undefined;
}

/** Connections to identity providers and attribute sources. */
export interface OutgoingConfig extends
  Omit<
    Values<typeof CLIENT>,
    "proxyHost" | "proxyPort" | "proxyType" | "proxyUser" | "proxyPassword" | "nonProxyHosts"
  > {
  readonly proxy?: ProxyConfig; // absent: direct connections
}

export interface ProxyConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly direct: readonly string[]; // direct destinations, see `goesThroughProxy()`
}

export interface LoggingConfig extends Omit<Values<typeof LOGGING>, "file"> {
  readonly file: string | undefined; // absent: console only
}

export type AuditDestination =
  | { readonly to: "file"; readonly path: string }
  | { readonly to: "console" | "journal" }
  | { readonly to: "syslog"; readonly address: string }; // `tls://host:port`
type AuditConfig = { readonly required: boolean } & AuditDestination;

export interface ControlConfig {
  readonly enabled: boolean;
  readonly socket: string | undefined; // absent: see `controlSockets`
}
