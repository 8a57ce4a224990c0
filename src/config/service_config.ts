import type { AnswerPolicy } from "../model/answer_headers.ts";
import type { CombiningPolicy } from "./keys/attribute_keys.ts";
import type { KindConfig } from "./kind_config.ts";

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
  readonly authentication: AuthenticationConfig;
  readonly attributes: AttributesConfig;
  /** Sources asked last; their account and groups always win. */
  readonly dynamicAttributes: AttributesConfig;
  readonly accessControl: AccessControlConfig;
  readonly gateway: GatewayConfig;
  readonly issuedTokens: IssuedTokensConfig;
  readonly regulation: RegulationConfig;
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
}

/** Where the configuration was read from. */
export interface SourceFiles {
  /** Absolute. */
  readonly main: string;
  /** Main file, included ones and files of expressions, absolute: watch these. */
  readonly all: readonly string[];
}

/** Name and addresses of the service. */
export interface SiteConfig {
  readonly name: string;
  /** Interface to listen on; `0.0.0.0` or `::` is all. */
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Without trailing slash. With port 0 and no configured URL it holds port 0, see `externalUrlAt`. */
  readonly externalUrl: string;
  /** Whether the operator gave the URL; otherwise it was derived from host and port. */
  readonly externalUrlGiven: boolean;
}

/** Which services answer; a switched-off one answers 404. */
export interface FeaturesConfig {
  readonly auth: boolean;
  readonly share: boolean;
  readonly access: boolean;
}

/** The listener. */
export interface HttpsConfig extends AnswerPolicy {
  /** `false`: plain HTTP, for tests or behind a proxy on the same host. */
  readonly tls: boolean;
  readonly clientCertificate: "none" | "requested" | "required";
  readonly minTlsVersion: "TLSv1.2" | "TLSv1.3";
  readonly maxTlsVersion: "TLSv1.2" | "TLSv1.3";
  /** Open connections; 0 is no limit, absent: what suits the machine. */
  readonly maxConnections: number | undefined;
  /** After which an idle kept-alive connection is closed. */
  readonly maxIdleMs: number;
}

/** Place of a setting, for messages. */
export interface Origin {
  readonly file: string;
  readonly line?: number;
  readonly key: string;
}

/** Where own certificate and key are; read by `loadTlsMaterial`. */
export interface CredentialConfig {
  readonly origin: Origin;
  readonly path: string;
  readonly format: "auto" | "pem" | "pkcs12" | "der" | "jks";
  readonly password: string | undefined;
  readonly keyPath: string | undefined;
  /** Where the file with the key is named: `keyPath`, else `path`. */
  readonly keyOrigin: Origin;
  readonly keyPassword: string | undefined;
  readonly keyAlias: string | undefined;
  readonly reloadOnChange: boolean;
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
  /** Who is trusted to name its daemons; absent: the common truststore. */
  readonly truststore: TruststoreConfig | undefined;
}

/** One daemon of a logical server. */
export interface DaemonInstanceConfig {
  /** Listen socket, given to clients verbatim: one host, or several, see `hostsOf`. */
  readonly host: string;
  /** Absent: the daemon tells with each session. */
  readonly port: number | undefined;
  readonly commandHost: string;
  readonly commandPort: number;
  /** TLS to the command socket; `false` only in tests. */
  readonly ssl: boolean;
  /** Subject the daemon's certificate must have. */
  readonly expectedDn: string | undefined;
  /** Whether its certificate may be one with which a handshake proves nothing. */
  readonly allowUnverifiable: boolean;
}

/** Where the reservations of a logical server come from. */
export interface ReservationsConfig {
  /** May come into being later. */
  readonly file: string;
  /** IANA name; absent: the zone of the host. */
  readonly timeZone: string | undefined;
}

/** The methods, and whether callers must show credentials. */
export interface AuthenticationConfig {
  /** In the order they are asked; none makes every caller anonymous. */
  readonly methods: readonly KindConfig[];
  readonly failOnMissingCredentials: boolean;
}

/** The sources in their order, and how their answers are combined. */
export interface AttributesConfig {
  /** As configured: whoever combines them adds the automatic source if it is not among them. */
  readonly sources: readonly KindConfig[];
  readonly policy: CombiningPolicy;
}

/** Whether access rules hold. */
export interface AccessControlConfig {
  /** `false`: every caller may do everything (tests only). */
  readonly enabled: boolean;
}

/** A gateway in front, and from where it speaks. */
export interface GatewayConfig {
  readonly enabled: boolean;
  /** Addresses and CIDR ranges whose forwarding headers count; none: nobody's do. */
  readonly trustedPeers: readonly string[];
  /** Gateway's certificate, PEM or (name ends in `.der`) DER; needed to verify the signed consignor header. */
  readonly certificate: string | undefined;
}

/** Tokens that the service issues, and those of others that count. */
export interface IssuedTokensConfig {
  /** Of a token whose request names no lifetime. */
  readonly lifetimeSeconds: number;
  readonly maxLifetimeSeconds: number;
  /** Accepts HS256 tokens made with it; at least 32 bytes. */
  readonly hmacSecret: string | undefined;
  /** PEM files of further issuers whose tokens count. */
  readonly trustedIssuerFiles: readonly string[];
}

/** How guessing is slowed down. */
export interface RegulationConfig {
  readonly enabled: boolean;
  /** Failures within the window that cost nothing. */
  readonly maxFailures: number;
  readonly windowSeconds: number;
  /** First wait; it doubles with each further failure. */
  readonly baseDelaySeconds: number;
  readonly maxDelaySeconds: number;
}

/** Data sharing. */
export interface SharingConfig {
  /** Logical servers with sharing. */
  readonly servers: readonly string[];
  readonly allowWriteAccess: boolean;
  /** Addresses the daemon is to expect for the service's own sessions; none: the local end of the connection. */
  readonly clientAddresses: readonly string[];
  /** Longest life a share may have; 0 is no bound. */
  readonly maxLifetimeSeconds: number;
  /** Folder of the share database; there whenever `servers` is not empty. */
  readonly directory: string | undefined;
}

/** HTTPS to identity providers and XUUDB. */
export interface OutgoingConfig {
  readonly hostnameChecking: "NONE" | "WARN" | "FAIL";
  /** Show the own certificate to an XUUDB that asks; identity providers have their own setting. */
  readonly showCertificate: boolean;
  /** Trust the well-known public authorities besides the truststore. */
  readonly publicRoots: boolean;
  readonly connectTimeoutMs: number;
  /** For the whole exchange. */
  readonly timeoutMs: number;
  readonly maxConnectionsPerHost: number;
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
}

/** Where log lines go, and which. */
export interface LoggingConfig {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "text" | "json";
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
export interface MetricsConfig {
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}
