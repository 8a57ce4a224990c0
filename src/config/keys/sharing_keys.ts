import {
  className,
  flag,
  hosts,
  ignored,
  integer,
  list,
  optional,
  path,
  ports,
  seconds,
  secretText,
  section,
  text,
} from "../key.ts";

/** Data sharing (rest-api.md 3.6). */
export const SHARE = section({
  prefix: "share.",
  title: "Data sharing",
  keys: {
    servers: list({
      help: "Logical servers on which users may share data. If not set, no server",
      default: [],
    }),
    allowWriteAccess: flag({ help: "Allow shares with write access", default: false }),
    clientAddresses: optional(hosts({
      name: "clientIP",
      help:
        "Client address (or addresses) of this service's own transfers, as daemons see it. If not set, the service detects it",
    })),
    maxLifetimeSeconds: seconds({
      name: "maxLifetime",
      help: "Maximum lifetime of a share; 0 means no limit",
      default: 0,
      added: true,
    }),
    suggestPeople: flag({
      help:
        "When users enter the recipient of a share, suggest users who have signed in on pages. This discloses who uses the service",
      default: false,
      added: true,
    }),
    maxPerUser: integer({
      help: "Maximum number of shares per user and server; 0 means no limit",
      default: 1000,
      added: true,
    }),
  },
  ignored: {
    "server.*": "the service uses the daemons of authservice.servers",
    ...ignored(
      "deprecated, users are known by their distinguished name",
      "userIdentityType userIdentityExtractor",
    ),
  },
});

const ONE = "the service uses one database for everything";

const SQLITE = "the service keeps shares in a SQLite database in persistence.directory";

const OURS = "the service manages its database itself";

/** Storage of shares and records. */
export const PERSISTENCE = section({
  prefix: "persistence.",
  title: "Storage",
  keys: {
    directory: optional(path({
      help:
        "Folder for shares, tokens, certificates, sign-ins, bans and notifications. Without PostgreSQL, sharing and OpenSSH certificates require it",
    })),
    kind: className({
      name: "class",
      help:
        "Storage: PGSQLPersist (with any package prefix) uses PostgreSQL, H2Persist uses persistence.directory",
      default: "H2Persist",
    }),
  },
  ignored: {
    ...ignored(ONE, "directory.* class.*"),
    ...ignored(OURS, "config* driver* pool_timeout* cache.* cluster.* h2.* mysql.*"),
  },
});

/** Keys read instead of {@link POSTGRES} if it is not chosen: Java configurations have keys for each database. */
export const NO_POSTGRES = section({
  prefix: "persistence.",
  title: "PostgreSQL",
  keys: {},
  ignored: {
    ...ignored(SQLITE, "database* user* password* host* port* max_connections* statementTimeout* pgsql.*"),
  },
});

/** Shared database, if chosen. */
export const POSTGRES = section({
  prefix: "persistence.",
  title: "PostgreSQL",
  keys: {
    hosts: hosts({
      name: "host",
      help: "Database host, or several; the service uses the one that accepts writes",
      default: "localhost",
    }),
    ports: ports({
      name: "port",
      help: "Database port: one for all hosts, or one for each",
      default: [5432],
    }),
    database: text({ help: "Database name" }),
    user: text({ help: "Database user" }),
    password: secretText({ help: "Password of the database user; empty if not required", default: "" }),
    digestSecret: optional(secretText({
      help:
        "Key of the digests that stand for names and addresses of failed logins; all instances have the same one. Default: the password",
      minBytes: 32,
      added: true,
    })),
    connections: integer({
      name: "max_connections",
      help:
        "Maximum number of database connections, including one that listens for notifications; at least 2 are used. A reload needs twice as many",
      default: 8,
      min: 1,
      max: 1000,
    }),
    timeoutMs: integer({
      name: "statementTimeout",
      help: "Timeout for one database operation, including connection and retries",
      default: 2000,
      min: 100,
      max: 60_000,
      added: true,
      unit: "milliseconds",
    }),
    outageGraceSeconds: seconds({
      name: "outage.grace",
      help:
        "Time for which all tokens of the service stay valid while the database is down; after that, only short tokens do",
      default: 60,
      added: true,
    }),
    outageTokenSeconds: seconds({
      name: "outage.tokenLifetime",
      help: "Maximum lifetime of these short tokens, from the first token of the token family to the end",
      default: 300,
      added: true,
    }),
    tls: flag({
      name: "pgsql.useSSL",
      help: "TLS mode: whether to encrypt database connections and check the certificate",
      default: true,
    }),
    authorities: optional(path({
      name: "pgsql.ssl.rootcert",
      help: "PEM file of the trusted authorities for the database. If not set, the truststore of the service",
      added: true,
    })),
    certificate: optional(path({
      name: "pgsql.ssl.cert",
      help: "PEM file with the client certificate, followed by the rest of its chain",
      added: true,
    })),
    key: optional(path({
      name: "pgsql.ssl.key",
      help: "PEM file with the unencrypted private key of the client certificate",
      added: true,
    })),
  },
  ignored: { ...ignored(ONE, "host.* port.* database.* user.* password.* max_connections.*") },
});
