import { className, flag, hosts, integer, list, optional, path, ports, secretText, text } from "../key.ts";
import { section } from "../section.ts";

/** Data sharing (rest-api.md 3.6). */
export const SHARE = section({
  prefix: "share.",
  title: "Data sharing",
  unknown: "error",
  keys: {
    servers: list({ help: "Logical servers whose users may share data; without it, none", default: [] }),
    allowWriteAccess: flag({ help: "Allow shares that others may write to", default: false }),
    clientAddresses: optional(hosts({
      name: "clientIP",
      help:
        "Address from which the daemons see this service's own transfers, or several; without it, it is found out",
    })),
    maxLifetimeSeconds: integer({
      name: "maxLifetime",
      help: "Longest life of a share; 0 is no bound",
      default: 0,
      unit: "seconds",
      added: true,
    }),
    maxPerUser: integer({
      help: "Most shares that a user may have on a server at once; 0 is no bound",
      default: 1000,
      added: true,
    }),
  },
  ignored: {
    "server.*": "the service uses the daemons of authservice.servers",
    userIdentityType: "deprecated, users are known by their distinguished name",
    userIdentityExtractor: "deprecated, users are known by their distinguished name",
  },
});

const ONE = "everything is kept in one database";

const SQLITE = "shares are kept in a SQLite database in persistence.directory";

const OURS = "the service deals with its database in its own way";

/** Where shares and records are kept. */
export const PERSISTENCE = section({
  prefix: "persistence.",
  title: "Share store",
  unknown: "error",
  keys: {
    directory: optional(path({
      help:
        "Folder of shares and of what is known of tokens; without PostgreSQL, required if servers share data or certificates count",
    })),
    kind: className({
      name: "class",
      help:
        "Where it is kept; PGSQLPersist, with any package before it, is PostgreSQL, and H2Persist the folder",
      default: "H2Persist",
    }),
  },
  ignored: {
    "directory.*": ONE,
    "class.*": ONE,
    "config*": OURS,
    "driver*": OURS,
    "pool_timeout*": OURS,
    "cache.*": OURS,
    "cluster.*": OURS,
    "h2.*": OURS,
    "mysql.*": OURS,
  },
});

/** What is read in the place of {@link POSTGRES} if that is not chosen: Java configurations have keys for each database. */
export const NO_POSTGRES = section({
  prefix: "persistence.",
  title: "PostgreSQL",
  unknown: "error",
  keys: {},
  ignored: {
    "database*": SQLITE,
    "user*": SQLITE,
    "password*": SQLITE,
    "host*": SQLITE,
    "port*": SQLITE,
    "max_connections*": SQLITE,
    "statementTimeout*": SQLITE,
    "pgsql.*": SQLITE,
  },
});

/** The database that several instances share; read only if it is chosen. */
export const POSTGRES = section({
  prefix: "persistence.",
  title: "PostgreSQL",
  unknown: "error",
  keys: {
    hosts: hosts({
      name: "host",
      help: "Server of the database, or several with commas between; that which takes changes is used",
      default: "localhost",
    }),
    ports: ports({
      name: "port",
      help: "Port of the database; one for all servers, or one for each",
      default: [5432],
    }),
    database: text({ help: "Name of the database" }),
    user: text({ help: "Account of the database" }),
    password: secretText({ help: "Password of that account; empty where none is asked for", default: "" }),
    digestSecret: optional(secretText({
      help:
        "Key of the digests that stand for names and addresses of failed logins; all instances have the same one. Default: the password",
      minBytes: 32,
      added: true,
    })),
    connections: integer({
      name: "max_connections",
      help:
        "Connections to the database at a time, of which one listens; 1 is as 2, a reload needs twice as many",
      default: 8,
      min: 1,
      max: 1000,
    }),
    timeoutMs: integer({
      name: "statementTimeout",
      help: "Longest time for one piece of work on the database, the way there and all tries included",
      default: 2000,
      min: 100,
      max: 60_000,
      unit: "milliseconds",
      added: true,
    }),
    outageGraceSeconds: integer({
      name: "outage.grace",
      help:
        "How long all tokens of the service's own count while the database is away; then only short ones do",
      default: 60,
      unit: "seconds",
      added: true,
    }),
    outageTokenSeconds: integer({
      name: "outage.tokenLifetime",
      help: "Longest life of tokens that count then, from the first of their line to their end",
      default: 300,
      unit: "seconds",
      added: true,
    }),
    tls: flag({
      name: "pgsql.useSSL",
      help: "Whether connections to the database are encrypted, and its certificate is checked",
      default: true,
    }),
    authorities: optional(path({
      name: "pgsql.ssl.rootcert",
      help:
        "PEM file of the authorities that count for the database; without it, the truststore of the service",
      added: true,
    })),
    certificate: optional(path({
      name: "pgsql.ssl.cert",
      help: "PEM file of a certificate to log in with, followed by the rest of its chain",
      added: true,
    })),
    key: optional(path({
      name: "pgsql.ssl.key",
      help: "PEM file of the private key of that certificate, which is not locked",
      added: true,
    })),
  },
  ignored: {
    "host.*": ONE,
    "port.*": ONE,
    "database.*": ONE,
    "user.*": ONE,
    "password.*": ONE,
    "max_connections.*": ONE,
  },
});
