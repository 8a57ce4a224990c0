import type { AnswerPolicy } from "../model/answer_headers.ts";
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
import type { KindConfig } from "./kind_config.ts";

/** Values of a section, whose keys have the documentation. */
type Values<S extends { readonly keys: Table }> = Infer<S["keys"]>;

/**
 * Complete, checked configuration: defaults applied, paths absolute. Plain frozen data for `structuredClone`. `…Secret`
 * and `password` fields are secret: wrap them in a `Secret` where they are used, and never log a whole config.
 */
export interface ServiceConfig {
  readonly sources: SourceFiles;
  readonly site: SiteConfig;
  readonly features: FeaturesConfig;
  readonly https: HttpsConfig;
  /** Absent only without HTTPS and TLS to daemons. */
  readonly credential: CredentialConfig | undefined;
  /** For clients, daemons and identity providers; absent only without TLS. */
  readonly truststore: TruststoreConfig | undefined;
  /** Absent: the common truststore. */
  readonly clientTruststore: TruststoreConfig | undefined;
  /** For identity providers and XUUDB; absent: the common truststore. */
  readonly providerTruststore: TruststoreConfig | undefined;
  /** SAML issuers' own certificates. */
  readonly trustedAssertionIssuers: TruststoreConfig | undefined;
  readonly servers: readonly LogicalServerConfig[];
  /** Whether to resolve host names in client addresses. */
  readonly resolveClientNames: boolean;
  readonly authentication: AuthenticationConfig;
  readonly attributes: AttributesConfig;
  /** They run last; their account and groups win. */
  readonly dynamicAttributes: AttributesConfig;
  readonly accessControl: AccessControlConfig;
  readonly gateway: GatewayConfig;
  readonly issuedTokens: IssuedTokensConfig;
  readonly browsers: BrowsersConfig;
  readonly throttling: ThrottlingConfig;
  readonly sharing: SharingConfig;
  readonly outgoing: OutgoingConfig;
  readonly logging: LoggingConfig;
  readonly audit: AuditConfig;
  readonly control: ControlConfig;
  readonly metrics: MetricsConfig;
  /** Further audiences and recipients of SAML assertions. */
  readonly additionalServiceIdentifiers: readonly string[];
  /** Whether to reload a changed main file. */
  readonly liveReload: boolean;
  readonly drainSeconds: number;
}

interface SourceFiles {
  readonly main: string;
  /** Main file, includes and expression files, absolute. */
  readonly all: readonly string[];
}

/** Name and addresses. */
export interface SiteConfig extends Pick<Values<typeof CONTAINER>, "name" | "host" | "port"> {
  /** Without trailing slash; contains port 0 if so configured, see `externalUrlAt`. */
  readonly externalUrl: string;
  /** Whether the URL was configured. */
  readonly externalUrlGiven: boolean;
}

/** Enabled services; others respond 404. */
type FeaturesConfig = Pick<Values<typeof FEATURES>, "auth" | "share" | "access" | "admin">;

/** Listener. */
export interface HttpsConfig
  extends AnswerPolicy, Pick<Values<typeof HTTP_SERVER>, "maxConnections" | "maxIdleMs" | "proxyPeers"> {
  /** False: plain HTTP, for tests or behind a local proxy. */
  readonly tls: boolean;
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
  /** Place of `keyPath`, else `path`. */
  readonly keyOrigin: Origin;
}

/** Paths of trusted certificates; see `loadTlsMaterial`. */
export type TruststoreConfig =
  & {
    /** Interval of checks for new files; negative: never. */
    readonly updateIntervalSeconds: number;
    readonly origin: Origin;
    /** Absent: no revocation check. */
    readonly revocation: RevocationConfig | undefined;
  }
  & (
    | {
      readonly type: "directory";
      /** Absolute, possibly with `*` and `?`. */
      readonly locations: readonly string[];
      readonly encoding: "PEM" | "DER";
    }
    | {
      readonly type: "keystore";
      readonly path: string;
      readonly password: string;
      readonly format: "auto" | "pkcs12" | "jks";
    }
    | { readonly type: "openssl"; readonly path: string }
  );

/** Paths of revocation lists. */
export interface RevocationConfig {
  readonly mode: "IF_VALID" | "REQUIRE";
  /** Absolute, possibly with `*` and `?`. */
  readonly locations: readonly string[];
  readonly origin: Origin;
}

/** Logical server with its daemons. */
export interface LogicalServerConfig {
  readonly name: string;
  readonly description: string;
  /** At least one; numbered from 1. */
  readonly instances: readonly DaemonInstanceConfig[];
  readonly reservations: ReservationsConfig | undefined;
  /** Required logins. */
  readonly logins: Pick<Infer<typeof LOGICAL_KEYS>, "methods" | "requiredAcr" | "maxAuthAge" | "networks">;
  /** Absent: the common truststore. */
  readonly truststore: TruststoreConfig | undefined;
}

/** Daemon; clients get its host verbatim, see `hostsOf`. */
export type DaemonInstanceConfig = Values<typeof SERVER_INSTANCE>;

/** Source of a server's reservations. */
export interface ReservationsConfig {
  /** May be created later. */
  readonly file: string;
  /** IANA name; absent: the host's. */
  readonly timeZone: string | undefined;
}

/** Authenticators, and whether credentials are required. */
export interface AuthenticationConfig extends Omit<Values<typeof AUTHENTICATION>, "order"> {
  /** In order; empty: all callers are anonymous. */
  readonly authenticators: readonly KindConfig[];
}

/** Sources in order and how to combine them. */
export interface AttributesConfig extends Omit<Infer<typeof CHAIN>, "order"> {
  /** As configured, without the implicit automatic source. */
  readonly sources: readonly KindConfig[];
}

interface AccessControlConfig {
  /** False: every caller may do everything (tests only). */
  readonly enabled: boolean;
}

/** Gateway and its addresses; without trusted peers its headers are ignored. */
export type GatewayConfig = Values<typeof GATEWAY>;

interface IssuedTokensConfig
  extends Omit<Values<typeof ISSUED_TOKENS>, "trustedIssuerCert" | "trustedLocalIssuer"> {
  /** PEM files of trusted issuers. */
  readonly trustedIssuerFiles: readonly string[];
}

type BrowsersConfig = Values<typeof BROWSERS>;

/** Login throttling. */
export type ThrottlingConfig = Values<typeof THROTTLING>;

/** Data sharing; with `servers` there is a directory or database. */
interface SharingConfig
  extends Omit<Values<typeof SHARE>, "clientAddresses">, Pick<Values<typeof PERSISTENCE>, "directory"> {
  /** Absent: everything is in the directory. */
  readonly database: DatabaseConfig | undefined;
  /** Addresses for own sessions; empty: the connection's local address. */
  readonly clientAddresses: readonly string[];
}

/** A PostgreSQL database. */
export interface DatabaseConfig extends
  Pick<
    Values<typeof POSTGRES>,
    "database" | "user" | "password" | "digestSecret" | "connections" | "timeoutMs"
  >,
  Pick<Values<typeof POSTGRES>, "outageGraceSeconds" | "outageTokenSeconds"> {
  /** At least one; one accepts changes. */
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Reread for each connection; absent: no TLS. */
  readonly tls: Pick<Values<typeof POSTGRES>, "authorities" | "certificate" | "key"> | undefined;
}

/** HTTPS to identity providers and XUUDB. */
export interface OutgoingConfig extends
  Omit<
    Values<typeof CLIENT>,
    "proxyHost" | "proxyPort" | "proxyType" | "proxyUser" | "proxyPassword" | "nonProxyHosts"
  > {
  /** Absent: direct connections. */
  readonly proxy?: ProxyConfig;
}

/** HTTP proxy for outgoing connections. */
export interface ProxyConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Direct destinations, see `goesThroughProxy()`. */
  readonly direct: readonly string[];
}

/** Log output. */
export interface LoggingConfig extends Omit<Values<typeof LOGGING>, "file"> {
  /** Absent: console only. */
  readonly file: string | undefined;
}

/** Destination of the audit log. */
export type AuditConfig =
  | { readonly to: "file"; readonly path: string }
  | { readonly to: "console" }
  | { readonly to: "journal" };

/** Control socket. */
export interface ControlConfig {
  readonly enabled: boolean;
  /** Absent: see `controlSockets`. */
  readonly socket: string | undefined;
}

/** Prometheus metrics; without `listen` off. */
interface MetricsConfig {
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}
