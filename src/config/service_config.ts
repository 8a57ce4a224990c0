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

/** The values of a section's keys: what a key is for, its unit and its default stand there. */
type Values<S extends { readonly keys: Table }> = Infer<S["keys"]>;

/**
 * Everything the service is told by its operator, checked and complete: what has a default is there, paths are absolute,
 * nothing is left to parse. Plain frozen data that survives `structuredClone`. Fields named `…Secret` or `password` hold
 * secret text: wrap it in a `Secret` where it is used, and never log a whole config.
 */
export interface ServiceConfig {
  readonly sources: SourceFiles;
  readonly site: SiteConfig;
  readonly features: FeaturesConfig;
  readonly https: HttpsConfig;
  /** Own certificate and key. Absent only if HTTPS is off and no daemon speaks TLS. */
  readonly credential: CredentialConfig | undefined;
  /** Whom to trust: clients' certificates, daemons, identity providers. Absent only if nothing speaks TLS. */
  readonly truststore: TruststoreConfig | undefined;
  /** Of clients; absent: the common truststore. */
  readonly clientTruststore: TruststoreConfig | undefined;
  /** Of identity providers and XUUDB servers; absent: the common truststore. */
  readonly providerTruststore: TruststoreConfig | undefined;
  /** Certificates of SAML issuers themselves, not of authorities. */
  readonly trustedAssertionIssuers: TruststoreConfig | undefined;
  readonly servers: readonly LogicalServerConfig[];
  /** Look up names that clients give in the place of their addresses. */
  readonly resolveClientNames: boolean;
  readonly authentication: AuthenticationConfig;
  readonly attributes: AttributesConfig;
  /** Sources asked last; their account and groups always win. */
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
  /** Further audiences and recipients of SAML assertions for this service. */
  readonly additionalServiceIdentifiers: readonly string[];
  /** Take over a changed main file while running. */
  readonly liveReload: boolean;
  readonly drainSeconds: number;
}

/** Where the configuration was read from. */
interface SourceFiles {
  /** Absolute. */
  readonly main: string;
  /** Main file, included ones and files of expressions, absolute: watch these. */
  readonly all: readonly string[];
}

/** Name and addresses of the service. */
export interface SiteConfig extends Pick<Values<typeof CONTAINER>, "name" | "host" | "port"> {
  /** Without trailing slash. With port 0 and no configured URL it holds port 0, see `externalUrlAt`. */
  readonly externalUrl: string;
  /** Whether the operator gave the URL; otherwise it was derived from host and port. */
  readonly externalUrlGiven: boolean;
}

/** Which services answer; a switched-off one answers 404. */
type FeaturesConfig = Pick<Values<typeof FEATURES>, "auth" | "share" | "access" | "admin">;

/** The listener. */
export interface HttpsConfig
  extends AnswerPolicy, Pick<Values<typeof HTTP_SERVER>, "maxConnections" | "maxIdleMs" | "proxyPeers"> {
  /** `false`: plain HTTP, for tests or behind a proxy on the same host. */
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

/** Where own certificate and key are; read by `loadTlsMaterial`. */
export interface CredentialConfig extends Omit<Values<typeof CREDENTIAL>, "format"> {
  readonly origin: Origin;
  readonly format: "auto" | NonNullable<Values<typeof CREDENTIAL>["format"]>;
  /** Where the file with the key is named: `keyPath`, else `path`. */
  readonly keyOrigin: Origin;
}

/** Where trusted certificates are; read by `loadTlsMaterial`. */
export type TruststoreConfig =
  & {
    /** Seconds between two looks for new files; negative is never. */
    readonly updateIntervalSeconds: number;
    /** Where the store is configured, for messages. */
    readonly origin: Origin;
    /** Revocation lists to hold certificates against; absent: none. */
    readonly revocation: RevocationConfig | undefined;
  }
  & (
    | {
      readonly type: "directory";
      /** Absolute paths, possibly with `*` and `?` in the last part. */
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

/** Where revocation lists are; read with the truststore. */
export interface RevocationConfig {
  readonly mode: "IF_VALID" | "REQUIRE";
  /** Absolute paths, possibly with `*` and `?`. */
  readonly locations: readonly string[];
  readonly origin: Origin;
}

/** One name that users see; one or several daemons behind it. */
export interface LogicalServerConfig {
  readonly name: string;
  readonly description: string;
  /** At least one; the first has number 1. */
  readonly instances: readonly DaemonInstanceConfig[];
  /** Absent: not enabled. */
  readonly reservations: ReservationsConfig | undefined;
  /** How users must have logged in. */
  readonly logins: Pick<Infer<typeof LOGICAL_KEYS>, "methods" | "requiredAcr" | "maxAuthAge" | "networks">;
  /** Who is trusted to name its daemons; absent: the common truststore. */
  readonly truststore: TruststoreConfig | undefined;
}

/** One daemon of a logical server. Its host is given to clients verbatim: one, or several, see `hostsOf`. */
export type DaemonInstanceConfig = Values<typeof SERVER_INSTANCE>;

/** Where the reservations of a logical server come from. */
export interface ReservationsConfig {
  /** May come into being later. */
  readonly file: string;
  /** IANA name; absent: the zone of the host. */
  readonly timeZone: string | undefined;
}

/** The methods, and whether callers must show credentials. */
export interface AuthenticationConfig extends Omit<Values<typeof AUTHENTICATION>, "order"> {
  /** In the order they are asked; none makes every caller anonymous. */
  readonly authenticators: readonly KindConfig[];
}

/** The sources in their order, and how their answers are combined. */
export interface AttributesConfig extends Omit<Infer<typeof CHAIN>, "order"> {
  /** As configured: whoever combines them adds the automatic source if it is not among them. */
  readonly sources: readonly KindConfig[];
}

/** Whether access rules hold. */
interface AccessControlConfig {
  /** `false`: every caller may do everything (tests only). */
  readonly enabled: boolean;
}

/** A gateway in front, and from where it speaks; no trusted peers: nobody's headers count. */
export type GatewayConfig = Values<typeof GATEWAY>;

/** Tokens that the service issues, and those of others that count. */
interface IssuedTokensConfig
  extends Omit<Values<typeof ISSUED_TOKENS>, "trustedIssuerCert" | "trustedLocalIssuer"> {
  /** PEM files of further issuers whose tokens count. */
  readonly trustedIssuerFiles: readonly string[];
}

/** How long browsers stay signed in. */
type BrowsersConfig = Values<typeof BROWSERS>;

/** How guessing is slowed down. */
export type ThrottlingConfig = Values<typeof THROTTLING>;

/** Data sharing; there is a directory or a database whenever `servers` is not empty. */
interface SharingConfig
  extends Omit<Values<typeof SHARE>, "clientAddresses">, Pick<Values<typeof PERSISTENCE>, "directory"> {
  /** That several instances share; absent: everything is kept in the directory. */
  readonly database: DatabaseConfig | undefined;
  /** Addresses the daemon is to expect for the service's own sessions; none: the local end of the connection. */
  readonly clientAddresses: readonly string[];
}

/** A PostgreSQL database. */
export interface DatabaseConfig extends
  Pick<
    Values<typeof POSTGRES>,
    "database" | "user" | "password" | "digestSecret" | "connections" | "timeoutMs"
  >,
  Pick<Values<typeof POSTGRES>, "outageGraceSeconds" | "outageTokenSeconds"> {
  /** Of which one takes changes; at least one. */
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Files that are read for each connection, so that they can be renewed; absent: no TLS. */
  readonly tls: Pick<Values<typeof POSTGRES>, "authorities" | "certificate" | "key"> | undefined;
}

/** HTTPS to identity providers and XUUDB. */
export interface OutgoingConfig extends
  Omit<
    Values<typeof CLIENT>,
    "proxyHost" | "proxyPort" | "proxyType" | "proxyUser" | "proxyPassword" | "nonProxyHosts"
  > {
  /** Absent: everything is reached directly. */
  readonly proxy?: ProxyConfig;
}

/** An HTTP proxy on the way to other systems. */
export interface ProxyConfig {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** What is reached without it, see `goesThroughProxy()`. */
  readonly direct: readonly string[];
}

/** Where log lines go, and which. */
export interface LoggingConfig extends Omit<Values<typeof LOGGING>, "file"> {
  /** Absent: to the console only. */
  readonly file: string | undefined;
}

/** Where the audit stream goes. */
export type AuditConfig =
  | { readonly to: "file"; readonly path: string }
  | { readonly to: "console" }
  /** Of systemd. */
  | { readonly to: "journal" };

/** The socket of the operator's commands. */
export interface ControlConfig {
  /** Whether there is one. */
  readonly enabled: boolean;
  /** As the operator chose it; absent: see `controlSockets`. */
  readonly socket: string | undefined;
}

/** Prometheus metrics; absent `listen`: off. */
interface MetricsConfig {
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}
