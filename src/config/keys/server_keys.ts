import {
  addressRanges,
  distinguishedName,
  flag,
  host,
  hosts,
  integer,
  list,
  optional,
  path,
  port,
  text,
  timeZone,
  unlessUnfit,
} from "../key.ts";
import { section } from "../section.ts";

/** Which daemons the service fronts (specification 2.1). */
export const AUTHSERVICE = section({
  prefix: "authservice.",
  title: "Transfer servers",
  unknown: "error",
  keys: {
    servers: list({ help: "Names of the logical servers; users see and use them", default: [] }),
    resolveClientNames: flag({
      help:
        "Look up names of hosts that clients give as addresses to come from (-X, --client), by DNS alone; false drops them",
      default: false,
      added: true,
    }),
  },
});

const INSTANCE_KEYS = {
  host: hosts({
    help:
      "Address of the daemon's listen socket, as clients are to reach it; of several, with commas between, they take the first that answers",
  }),
  port: unlessUnfit(
    port({ help: "Port of the listen socket; without it, the daemon's word" }),
    "the daemon's word holds",
  ),
  commandHost: host({ help: "Address of the daemon's command socket" }),
  commandPort: port({ help: "Port of the command socket" }),
  ssl: flag({ help: "TLS to the command socket; false is for tests only", default: true }),
  expectedDn: optional(distinguishedName({
    name: "sslExpectedDN",
    help:
      "Subject that the daemon's certificate must have; without it, any certificate of a trusted authority will do",
    added: true,
  })),
  allowUnverifiable: flag({
    name: "allowUnverifiableCertificate",
    help:
      "Take a certificate that proves nothing (X.509 version 1): whoever has seen it can pose as the daemon",
    default: false,
    added: true,
  }),
};

/** What a logical server has, however many daemons. */
export const LOGICAL_KEYS = {
  description: text({ help: "What users read about the server", default: "n/a" }),
  reservations: flag({
    name: "reservations.enable",
    help: "Limit transfers by reservations",
    default: false,
  }),
  reservationsFile: optional(path({
    name: "reservations.file",
    help:
      "JSON file with reservations, on the host of each instance; it may be written later. Without it none is in effect",
  })),
  reservationsTimeZone: optional(timeZone({
    name: "reservations.timezone",
    help: "Zone of the times of reservations; without it, the zone of this machine",
    added: true,
  })),
  methods: list({
    help: "Methods of authentication by which one must have logged in to use the server; without it, any",
    default: [],
    added: true,
  }),
  requiredAcr: list({
    help: "Classes of authentication (acr): one must have logged in by one of them to use the server",
    default: [],
    added: true,
  }),
  maxAuthAge: optional(integer({
    help: "How long ago one may have logged in to use the server",
    unit: "seconds",
    min: 1,
    added: true,
  })),
  networks: addressRanges({
    help: "Addresses and ranges from which the server may be used; without it, from everywhere",
    default: [],
    added: true,
  }),
};

/** A logical server with one daemon. */
export const SINGLE_SERVER = section({
  prefix: "authservice.server.<server>.",
  title: "One transfer server",
  unknown: "warning",
  anyCase: true,
  keys: { ...LOGICAL_KEYS, ...INSTANCE_KEYS },
});

/** A logical server with several daemons: what stays at the logical level. */
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
