import { flag, hosts, integer, list, optional, path } from "../key.ts";
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

const SQLITE = "shares are kept in a SQLite database in persistence.directory";

/** Where shares and records are kept. */
export const PERSISTENCE = section({
  prefix: "persistence.",
  title: "Share store",
  unknown: "error",
  keys: {
    directory: optional(path({
      help:
        "Folder of shares and of what is known of tokens; required if servers share data or certificates count",
    })),
  },
  ignored: {
    "directory.*": "all shares are kept in one database in persistence.directory",
    "class*": SQLITE,
    "config*": SQLITE,
    "driver*": SQLITE,
    "database*": SQLITE,
    "user*": SQLITE,
    "password*": SQLITE,
    "host*": SQLITE,
    "port*": SQLITE,
    "max_connections*": SQLITE,
    "pool_timeout*": SQLITE,
    "cache.*": SQLITE,
    "cluster.*": SQLITE,
    "h2.*": SQLITE,
    "mysql.*": SQLITE,
    "pgsql.*": SQLITE,
  },
});
