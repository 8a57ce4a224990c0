import {
  addressRanges,
  distinguishedName,
  flag,
  host,
  hosts,
  lenient,
  list,
  optional,
  path,
  port,
  seconds,
  section,
  text,
  timeZone,
} from "../key.ts";

/** Logical servers (specification 2.1). */
export const AUTHSERVICE = section({
  prefix: "authservice.",
  title: "Transfer servers",
  keys: {
    servers: list({ help: "Names of the logical servers, as users see them", default: [] }),
    resolveClientNames: flag({
      help:
        "Resolve host names that clients give as their own addresses (-X, --client), by DNS only; false ignores host names",
      default: false,
      added: true,
    }),
  },
});

const INSTANCE_KEYS = {
  host: hosts({
    help:
      "Address of the daemon's listen socket, as clients reach it. Clients try several addresses, and use the first that answers",
  }),
  port: lenient(
    port({ help: "Port of the listen socket. If not set, the daemon reports it" }),
    "the service uses the port that the daemon reports",
  ),
  commandHost: host({ help: "Address of the daemon's command socket" }),
  commandPort: port({ help: "Port of the command socket" }),
  ssl: flag({ help: "Use TLS to the command socket; false is for tests only", default: true }),
  expectedDn: optional(distinguishedName({
    name: "sslExpectedDN",
    help:
      "Required subject of the daemon's certificate. If not set, the service accepts any certificate of a trusted authority",
    added: true,
  })),
  allowUnverifiable: flag({
    name: "allowUnverifiableCertificate",
    help:
      "Accept a daemon certificate that proves nothing (X.509 version 1): anyone who has seen it can impersonate the daemon",
    default: false,
    added: true,
  }),
};

/** Keys of every logical server. */
export const LOGICAL_KEYS = {
  description: text({ help: "Description of the server for users", default: "n/a" }),
  reservations: flag({
    name: "reservations.enable",
    help: "Limit transfers by reservations",
    default: false,
  }),
  reservationsFile: optional(path({
    name: "reservations.file",
    help:
      "JSON file with reservations, on the host of each instance; you can create it later. If not set, none is in effect",
  })),
  reservationsTimeZone: optional(timeZone({
    name: "reservations.timezone",
    help: "Time zone of reservations. If not set, the time zone of this machine",
    added: true,
  })),
  methods: list({
    help: "Authenticators that users must log in with to use the server. If not set, any authenticator",
    default: [],
    added: true,
  }),
  requiredAcr: list({
    help: "Authentication context classes (acr), one of which the login must have to use the server",
    default: [],
    added: true,
  }),
  maxAuthAge: optional(seconds({ help: "Maximum age of the login to use the server", min: 1, added: true })),
  networks: addressRanges({
    help: "Client addresses and ranges that may use the server. If not set, all addresses",
    default: [],
    added: true,
  }),
};

/** Logical server with one daemon. */
export const SINGLE_SERVER = section({
  prefix: "authservice.server.<server>.",
  title: "One transfer server",
  unknown: "warning",
  anyCase: true,
  keys: { ...LOGICAL_KEYS, ...INSTANCE_KEYS },
});

/** Logical server with several daemons. */
export const GROUPED_SERVER = section({
  prefix: "authservice.server.<server>.",
  title: "Group of transfer servers",
  unknown: "warning",
  anyCase: true,
  keys: {
    ...LOGICAL_KEYS,
    expectedDn: INSTANCE_KEYS.expectedDn,
    allowUnverifiable: INSTANCE_KEYS.allowUnverifiable,
  },
});

/** One daemon of several. */
export const SERVER_INSTANCE = section({
  prefix: "authservice.server.<server>.<number>.",
  title: "One of a group of transfer servers, counted from 1",
  unknown: "warning",
  anyCase: true,
  keys: INSTANCE_KEYS,
});
