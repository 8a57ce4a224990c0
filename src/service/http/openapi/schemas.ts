import { flag, integer, listOf, object, type Schema, TEXT, text } from "./schema.ts";

const DN = { examples: ["CN=Ann Example, O=Site, C=DE"] };
const WHOM = { examples: ["CN=Ann Example, O=Site, C=DE", "group:hpc"] };
const TIME = text("Local time with offset", {
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+-]\\d{4}$",
  examples: ["2026-01-05T09:15:00+0100"],
});
const STATUS = text("Begins with OK exactly when a session can be created", {
  pattern: "^(OK|DOWN) \\[.*\\]$",
  examples: ["OK [connected to daemon.example.org:64433]"],
});
const MOMENT = text("ISO 8601, UTC", { format: "date-time" });
const HREF = text("Absolute URL", { pattern: "^https?://", format: "uri" });

const SERVER_ENTRY = object({
  href: HREF,
  description: TEXT,
  status: STATUS,
  dataSharing: object({ enabled: flag("Whether files on it can be shared"), "href?": HREF }),
  reservations: listOf(TEXT, "Reservations that name the caller"),
  "refusal?": object({
    code: text("Of the error that using it is answered with", { pattern: "^ERR_[A-Z_]+$" }),
    reason: text("What is needed, for people"),
  }),
  "uftpdServerVersion?": text("n/a as long as it is not known"),
  "sessionLimit?": integer("Sessions a user may have at a time", { minimum: 1 }),
  "uid?": text("Unix account in effect"),
  "gid?": text("Unix group in effect"),
  "availableGroups?": listOf(TEXT),
  "rateLimit?": integer("Bytes per second for each transfer; absent: no limit", { minimum: 1 }),
  "allowed?": text("Patterns of allowed paths, separated by colons"),
  "forbidden?": text("Patterns of forbidden paths, separated by colons"),
});

const USER_INFO = object({
  "uid?": TEXT,
  "gid?": TEXT,
  "groups?": listOf(TEXT),
  dn: text("Comparable form of the name"),
});

const ACCESS = { type: "string", enum: ["READ", "WRITE", "MODIFY", "DROP"] } as const;

const SHARE_TERMS = {
  path: text("Ends in a slash if it is a directory"),
  access: ACCESS,
  "lifetime?": integer("Remaining seconds; absent: unlimited"),
  onetime: flag("Ends after one use"),
  accessCount: integer("Uses so far"),
  "usesLeft?": integer("Uses that are left"),
  "note?": text("What the owner tells those who use it"),
  "password?": flag("Whether a password is asked of those who use it; absent: none is"),
  http: text("Link for browsers", { pattern: "^https?://", format: "uri" }),
  uftp: text("Address for UFTP clients, path included"),
};

const OWN_SHARE = {
  id: TEXT,
  user: text("Whom it is for: a name, or group: and a Unix group"),
  directory: flag("Whether the share is a directory"),
  "sources?": listOf(TEXT, "Addresses and ranges it can be used from; absent: any"),
  "usedUp?": flag("Whether all its uses are over; absent: they are not"),
  "maxFiles?": integer("Maximum number of uploaded files, with access DROP"),
  "maxBytes?": integer("Maximum size of all uploads in bytes, with access DROP"),
  "notify?": flag("Whether the owner gets mail about files that arrive; absent: none"),
  "received?": object({ files: integer("Files"), bytes: integer("Bytes") }),
  ...SHARE_TERMS,
} satisfies Record<string, Schema>;

const USE = object({
  time: MOMENT,
  user: TEXT,
  client: text("Address"),
  via: TEXT,
  path: TEXT,
  "bytes?": integer("Known at the end"),
  "complete?": flag("Whether all of it went through"),
});

/** Accepts text for numbers, as stock clients send it. */
const LENIENT_INTEGER: Schema = {
  anyOf: [
    { type: "integer", format: "int32", maximum: 0x7fff_ffff },
    { type: "string", pattern: "^\\s*[+-]?\\d", maxLength: 32 },
  ],
};
const LENIENT_FLAG: Schema = { anyOf: [{ type: "boolean" }, { type: "string" }] };

const SESSION_MEMBERS = {
  serverPath: text("Base directory of the session; empty: the home directory, which the client may leave"),
  "streamCount?": LENIENT_INTEGER,
  "compress?": LENIENT_FLAG,
  "persistent?": LENIENT_FLAG,
  "encryptionKey?": text("base64", { format: "byte" }),
  "encryptionAlgorithm?": text("AES or BLOWFISH, in any case"),
  "group?": text("Primary group, one of availableGroups"),
  "client?": text("Addresses the client will come from, instead of the request's own"),
  "append?": LENIENT_FLAG,
  "send?": LENIENT_FLAG,
} as const;

const READINESS = {
  servers: object({
    total: integer("Configured"),
    usable: integer("Those on which a session can be created"),
  }),
  generation: integer("Counts the reloads of the configuration", { minimum: 1 }),
  "instances?": object({
    total: integer("Instances that are known"),
    serving: integer("Those that serve as far as is known"),
  }),
  "configurationsDiffer?": flag("Whether instances of the same version have different configurations"),
  "degraded?": flag(
    "Whether the database that instances share is away or degraded: what needs it may answer 503",
  ),
};

/** Named schemas. */
export const SCHEMAS = {
  Error: object({
    status: integer("The HTTP status", { minimum: 400, maximum: 599, format: "int32" }),
    errorMessage: text("For people"),
    code: text("For programs; the manual has the list", { pattern: "^ERR_[A-Z_]+$" }),
    requestId: text("Names the request in the log of the service", { format: "uuid" }),
  }),
  Live: object({ live: { const: true } }),
  Ready: object({
    ready: { const: true },
    ...READINESS,
  }),
  NotReady: object({
    status: { const: 503 },
    errorMessage: TEXT,
    code: { type: "string", enum: ["ERR_NOT_READY", "ERR_DRAINING"] },
    requestId: TEXT,
    ready: { const: false },
    ...READINESS,
  }),
  ProtectedResource: object({
    resource: HREF,
    resource_name: text("Name of the site"),
    authorization_servers: listOf(HREF, "Issuers whose tokens count here"),
    bearer_methods_supported: listOf({ const: "header" }),
    "scopes_supported?": listOf(TEXT, "Scopes that tokens need"),
    dpop_signing_alg_values_supported: listOf(TEXT, "Algorithms of proofs of possession (RFC 9449)"),
  }),
  Server: SERVER_ENTRY,
  ServerList: object({
    client: object({
      dn: text("The caller's name", DN),
      xlogin: object({
        "UID?": TEXT,
        "availableUIDs?": listOf(TEXT),
        "group?": TEXT,
        "availableGroups?": listOf(TEXT),
        "selectedSupplementaryGroups?": listOf(TEXT),
      }),
      role: object({ selected: TEXT, "availableRoles?": listOf(TEXT) }),
      "authenticationMethod?": TEXT,
      "capabilities?": listOf(
        object({
          path: text("Absolute, with trailing slash"),
          access: { type: "string", enum: ["read", "all"] },
        }),
        "What the token permits, and no more; absent: no limit",
      ),
    }),
    server: object({
      siteName: TEXT,
      currentTime: TIME,
      "version?": TEXT,
      "upSince?": TIME,
      "credential?": object({ dn: TEXT, issuer: TEXT, expires: TIME }),
      "trustedCAs?": listOf(TEXT),
      "trustedSAMLIssuers?": listOf(TEXT),
      "externalConnections?": object({}, {
        type: "string",
        enum: ["OK", "DOWN", "UNKNOWN"],
      }),
    }),
  }, { $ref: "#/components/schemas/Server" }),
  SessionRequest: { ...object(SESSION_MEMBERS, true) },
  SharedSessionRequest: {
    ...object({
      ...SESSION_MEMBERS,
      "owner?": text("Whose share is meant, where several cover the path", DN),
      "share?": text("The id of the share that is meant"),
    }, true),
  },
  SessionGrant: object({
    success: { const: true },
    reason: TEXT,
    serverHost: text("Where the client is to connect"),
    serverPort: integer("Port to connect to", { minimum: 1, maximum: 65535, format: "int32" }),
    secret: text("One-time password for that connection", { pattern: "^[A-Za-z0-9]{16,}$" }),
  }),
  SharedServers: object({ userInfo: USER_INFO }, object({ href: HREF, description: TEXT, status: STATUS })),
  ShareList: object({
    shares: listOf(object(OWN_SHARE), "The caller's own"),
    accessible: listOf(
      object({ owner: TEXT, "user?": text("The group, where it is for one"), ...SHARE_TERMS }),
      "Those for the caller, and for groups of the caller on this server",
    ),
    status: STATUS,
    userInfo: USER_INFO,
    "next?": HREF,
  }),
  Share: object({
    share: object({ ...OWN_SHARE, uses: listOf(USE, "The latest uses, newest first") }),
    owner: TEXT,
    status: STATUS,
    userInfo: USER_INFO,
  }),
  ShareRequest: object({
    path: text("Absolute, or relative to the home directory"),
    user: text("Whom it is for; CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN is everybody", WHOM),
    "access?": { type: "string", enum: ["NONE", "READ", "WRITE", "MODIFY", "DROP"] },
    "group?": TEXT,
    "lifetime?": LENIENT_INTEGER,
    "onetime?": LENIENT_FLAG,
    "maxUses?": LENIENT_INTEGER,
    "sources?": { anyOf: [TEXT, listOf(TEXT)] },
    "note?": text("Note for the recipient, a line of up to 500 characters"),
    "password?": text("Asked of those who use it, besides"),
    "maxFiles?": LENIENT_INTEGER,
    "maxBytes?": LENIENT_INTEGER,
    "notify?": LENIENT_FLAG,
  }, true),
  ShareChange: object({
    "path?": TEXT,
    "lifetime?": LENIENT_INTEGER,
    "sources?": { anyOf: [TEXT, listOf(TEXT)] },
    "note?": text("Empty: none from now on"),
    "password?": text("Empty: none from now on"),
    "notify?": LENIENT_FLAG,
  }, true),
  ShareChanged: object({}, { type: "string", enum: ["OK", "Property not found!"] }),
  Listing: object({
    path: text("Below the share"),
    "parent?": HREF,
    entries: listOf(object({
      name: TEXT,
      directory: flag("Whether the share is a directory"),
      "size?": integer("Bytes"),
      "modified?": text("Local time on the daemon's host"),
      href: HREF,
    })),
    complete: flag("Whether these are all from here on"),
    omitted: integer(
      "Things of the whole directory that are not among its entries: names with control characters, and what is no file. What the daemon itself leaves out, names that are not UTF-8 and links that lead nowhere, is not known",
      { minimum: 0 },
    ),
    "next?": HREF,
  }),
  Administration: object({
    "upSince?": text("Start of the service, such as Mon Nov 23 22:03:24 UTC 2026"),
    "containerVersion?": TEXT,
    "connectionStatus?": object({}, { type: "string", enum: ["OK", "DOWN", "UNKNOWN"] }),
    "subSystemsStatus?": object({}, STATUS),
    "_links?": object({}, object({ href: HREF, "description?": TEXT })),
  }),
  AdminRequest: object({
    "uid?": text("Unix account; ShowUserInfo, ModifyShare"),
    "serverName?": text("Logical server; ShowUserInfo, ModifyShare"),
    "id?": text("Of a share; ModifyShare"),
    "gid?": text("Unix group; ModifyShare"),
    "path?": text("Absolute, of a directory with a slash at its end; ModifyShare"),
    "owner?": text("ModifyShare", DN),
    "target?": text("ModifyShare", WHOM),
    "subject?": text("Whom the token is for; IssueAPIToken", DN),
    "lifetime?": LENIENT_INTEGER,
    "renewable?": LENIENT_FLAG,
    "preferences?": text("As in the header X-UNICORE-User-Preferences; IssueAPIToken"),
  }),
  SshCertificate: object({
    principals: listOf(TEXT, "User names whose login it allows"),
    keyId: text("What the authority calls it"),
    serial: text("Number that the authority gave it"),
    key: text("Fingerprint of the key", { examples: ["SHA256:tZBYnI0NQaDrkwbww1eMc1GE1VK1bnBq1wKhCSPbBeA"] }),
    authority: text("Fingerprint of the authority"),
    "validAfter?": MOMENT,
    "validBefore?": text("End of validity; absent: it never expires", {
      format: "date-time",
    }),
  }),
  TokenList: object({
    tokens: listOf(
      object({
        id: text("The token's jti; of one from before tokens had it, sha256- and a digest"),
        "name?": text("As it was asked for"),
        made: MOMENT,
        ends: MOMENT,
        "madeFrom?": text("Client address of the request for the token"),
        "madeBy?": text("Administrator who requested the token", DN),
        "lastUsed?": text("Day, in UTC", { pattern: "^\\d{4}-\\d\\d-\\d\\d$" }),
        "lastUsedFrom?": text("First client address on that day"),
        renewable: flag("Whether the token is renewable"),
        limited: flag("Whether the token is for this service only"),
        "path?": listOf(TEXT),
        "activity?": text("What may be done there", { enum: ["read", "write", "all"] }),
        "server?": listOf(TEXT),
        "address?": TEXT,
        "current?": flag("true: it is the one that the caller shows"),
      }),
      "Oldest first",
    ),
  }),
  TokensRevoked: object({ ended: integer("How many were listed", { minimum: 0 }) }),
  AdminResult: object({
    success: flag("Whether the action could be carried out"),
    message: text("For people"),
    results: object({}, true),
  }),
  Description: object({ openapi: { const: "3.1.0" } }, true),
} as const satisfies Readonly<Record<string, Schema>>;

/** Name of a schema. */
export type SchemaName = keyof typeof SCHEMAS;
