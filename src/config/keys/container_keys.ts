import { flag, host, integer, oneOf, optional, port, text, url } from "../key.ts";
import { section } from "../section.ts";

/** Address of the service and general settings (specification 1; rest-api.md 3.3). */
export const CONTAINER = section({
  prefix: "container.",
  title: "Service",
  unknown: "error",
  keys: {
    host: host({
      help: "Interface to listen on: a host name or address of this machine, or 0.0.0.0 for all",
      default: "localhost",
    }),
    port: port({ help: "Port to listen on; 0 takes any free one", default: 7777, anyFree: true }),
    name: text({
      name: "sitename",
      help: "Name of the site, such as AUTH; not rest or health",
      default: "DEMO-SITE",
    }),
    externalUrl: optional(url({
      name: "externalurl",
      help:
        "URL under which users reach the service, if it is behind a gateway or NAT: https://<host>:<port>/<sitename>",
      schemes: ["https", "http"],
    })),
    baseUrl: optional(text({
      name: "baseurl",
      help:
        "Deprecated form of container.externalurl, with or without https://; all from /services on is cut off",
    })),
    drainSeconds: integer({
      help:
        "How long the service goes on after it was told to stop, with 503 at GET /health/ready, so that load balancers go elsewhere",
      default: 0,
      max: 3600,
      unit: "seconds",
      added: true,
    }),
    liveReload: flag({
      name: "runtimeConfigurationUpdate",
      help: "Take over changes of this file while running",
      default: true,
    }),
  },
  ignored: {
    onstartupSelftest:
      "the log tells of every daemon that is down, and authserver check --online of all connections",
    "onstartup*": "there are no start-up classes to load",
    "messageLogging.*": "message contents are never logged",
    "pools.*": "there are no thread pools",
    "resources.*": "there are no thread pools",
    "services.*": "there are no further services",
    "wsrf.*": "there are no further services",
    "externalregistry.*": "the service does not register itself",
    "registry.*": "the service does not register itself",
    "persistence.*": "there is no state but shares, see persistence.directory",
    "deployment.*": "nothing is deployed at run time",
  },
});

/** Features and their services (specification 1). */
export const FEATURES = section({
  prefix: "container.feature.",
  title: "Features",
  unknown: "warning",
  keys: {
    authServer: flag({ name: "AuthServer.enable", help: "Authenticate users for transfers", default: true }),
    auth: flag({ name: "AuthServer.auth.enable", help: "Service /rest/auth", default: true }),
    dataSharing: flag({ name: "DataSharing.enable", help: "Let users share data", default: true }),
    share: flag({ name: "DataSharing.share.enable", help: "Service /rest/share", default: true }),
    access: flag({ name: "DataSharing.access.enable", help: "Service /rest/access", default: true }),
    admin: flag({
      name: "Admin.enable",
      help: "Let users with the role admin carry out actions of administrators",
      default: true,
    }),
    adminService: flag({ name: "Admin.admin.enable", help: "Service /rest/admin", default: true }),
  },
  ignored: {
    "Registry.*": "there is no such feature",
  },
});

/** Log output. */
export const LOGGING = section({
  prefix: "container.logging.",
  title: "Logs",
  unknown: "error",
  keys: {
    level: oneOf(["debug", "info", "warn", "error"], {
      help: "Least level that is written",
      default: "info",
      added: true,
    }),
    format: oneOf(["text", "json"], {
      help: "How log lines are written: time, level, message and key=value, or as a JSON object each",
      default: "text",
      added: true,
    }),
    file: text({
      help: "Log file, besides the console; with -, the console only",
      default: "logs/authserver.log",
      added: true,
    }),
  },
});

/** Audit log. */
export const AUDIT = section({
  prefix: "container.audit.",
  title: "Audit",
  unknown: "error",
  keys: {
    file: optional(text({
      help: "Audit file, a JSON object a line; without it audit.log beside the log file; with -, the console",
      added: true,
    })),
    journal: flag({
      help: "Audit lines to the journal of systemd, as authserver-audit, in place of a file",
      default: false,
      added: true,
    }),
  },
});

/** Control socket for commands. */
export const CONTROL = section({
  prefix: "container.control.",
  title: "Control",
  unknown: "error",
  keys: {
    socket: optional(text({
      help:
        "Unix socket of authserver status and others; without it in $RUNTIME_DIRECTORY or beside the log file; with -, none",
      added: true,
    })),
  },
});

/** Metrics for Prometheus. */
export const METRICS = section({
  prefix: "container.metrics.",
  title: "Metrics",
  unknown: "error",
  keys: {
    port: optional(
      port({
        help: "Port of the metrics page /metrics; 0 takes any free one, without it there is none",
        added: true,
        anyFree: true,
      }),
    ),
    host: host({ help: "Interface of the metrics page", default: "127.0.0.1", added: true }),
  },
});
