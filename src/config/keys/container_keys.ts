import { flag, host, ignored, integer, oneOf, optional, port, seconds, section, text, url } from "../key.ts";

/** Address of the service and general settings (specification 1; rest-api.md 3.3). */
export const CONTAINER = section({
  prefix: "container.",
  title: "Service",
  keys: {
    host: host({
      help: "Interface to listen on: a host name or address of this machine, or 0.0.0.0 for all",
      default: "localhost",
    }),
    port: port({ help: "Port to listen on; 0 selects a free port", default: 7777, allowZero: true }),
    name: text({
      name: "sitename",
      help: "Site name, for example AUTH; not the first part of a path of the service, such as rest or admin",
      default: "DEMO-SITE",
    }),
    externalUrl: optional(url({
      name: "externalurl",
      help:
        "URL at which users reach the service if it is behind a gateway or NAT: https://<host>:<port>/<sitename>",
      schemes: ["https", "http"],
    })),
    baseUrl: optional(text({
      name: "baseurl",
      help:
        "Deprecated form of container.externalurl, with or without https://; the service ignores the part from /services on",
    })),
    drainSeconds: seconds({
      help:
        "Time for which a stopping service still serves requests while GET /health/ready answers 503, so that load balancers switch to other instances",
      default: 0,
      max: 3600,
      added: true,
    }),
    liveReload: flag({
      name: "runtimeConfigurationUpdate",
      help: "Reload this file when it changes",
      default: true,
    }),
  },
  ignored: {
    onstartupSelftest:
      "the log reports every daemon that is down; authserver check --online tests all connections",
    "onstartup*": "the service has no start-up classes",
    "messageLogging.*": "the service never logs message contents",
    ...ignored("the service has no thread pools", "pools.* resources.*"),
    ...ignored("the service has no further services", "services.* wsrf.* servletpath"),
    ...ignored("the service does not register itself", "externalregistry.* registry.*"),
    "persistence.*": "see persistence.directory",
    "deployment.*": "the service deploys nothing at run time",
  },
});

/** Features and their services (specification 1). */
export const FEATURES = section({
  prefix: "container.feature.",
  title: "Features",
  unknown: "warning",
  keys: {
    authServer: flag({ name: "AuthServer.enable", help: "Authenticate users for transfers", default: true }),
    auth: flag({ name: "AuthServer.auth.enable", help: "Serve /rest/auth", default: true }),
    dataSharing: flag({ name: "DataSharing.enable", help: "Let users share data", default: true }),
    share: flag({ name: "DataSharing.share.enable", help: "Serve /rest/share", default: true }),
    access: flag({ name: "DataSharing.access.enable", help: "Serve /rest/access", default: true }),
    files: flag({
      name: "Files.enable",
      help: "Serve the users' own files, at /dav and on pages; this service then carries their data",
      default: false,
      added: true,
    }),
    admin: flag({
      name: "Admin.enable",
      help: "Enable the admin API for users with the role admin",
      default: true,
    }),
    adminService: flag({ name: "Admin.admin.enable", help: "Serve /rest/admin", default: true }),
  },
  ignored: { "Registry.*": "this feature does not exist" },
});

/** Log output. */
export const LOGGING = section({
  prefix: "container.logging.",
  title: "Logs",
  added: true,
  keys: {
    level: oneOf(["debug", "info", "warn", "error"], {
      help: "Minimum level of log entries",
      default: "info",
    }),
    format: oneOf(["text", "json"], {
      help: "Format of log lines: text (time, level, message, key=value) or one JSON object per line",
      default: "text",
    }),
    file: text({
      help: "Log file in addition to the console; - logs to the console only",
      default: "logs/authserver.log",
    }),
    maxSize: integer({
      help: "Rename log file and audit file to .1, .2 and so on at this size; 0: never, for logrotate",
      unit: "bytes",
      min: 0,
      default: 0,
    }),
    maxFiles: integer({
      help: "Number of renamed files to keep of each, with maxSize",
      min: 1,
      max: 1000,
      default: 10,
    }),
  },
});

/** Audit log. */
export const AUDIT = section({
  prefix: "container.audit.",
  title: "Audit",
  added: true,
  keys: {
    file: optional(text({
      help:
        "Audit file with one JSON object per line. If not set: audit.log next to the log file; -: the console",
    })),
    required: flag({
      help: "Answer 503 to requests that need an audit line while audit lines cannot be written",
      default: false,
    }),
    journal: flag({
      help: "Send audit lines to the systemd journal, as authserver-audit, instead of a file",
      default: false,
    }),
    syslog: optional(url({
      help:
        "Send audit lines to this log server, as syslog messages over TLS (RFC 5424, RFC 5425), instead of a file; tls://host:port, default port 6514",
      schemes: ["tls"],
    })),
  },
});

/** Control socket for commands. */
export const CONTROL = section({
  prefix: "container.control.",
  title: "Control",
  keys: {
    socket: optional(text({
      help:
        "Unix socket for commands such as authserver status. If not set: in $RUNTIME_DIRECTORY or next to the log file; -: no socket",
      added: true,
    })),
  },
});

/** Metrics for Prometheus. */
export const METRICS = section({
  prefix: "container.metrics.",
  title: "Metrics",
  added: true,
  keys: {
    port: optional(
      port({
        help: "Port for /metrics; 0 selects a free port. If not set, the service exports no metrics",
        allowZero: true,
      }),
    ),
    host: host({ help: "Interface for /metrics", default: "127.0.0.1" }),
  },
});
