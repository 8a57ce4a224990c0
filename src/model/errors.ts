/** Facts about an error code for response and types. */
export interface ErrorRow {
  readonly status: number;
  /** Text for the caller, with `{parameters}`; contains no addresses, paths, accounts or internals. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>; // further response headers, with `{parameters}`
}

const CLOSES = { Connection: "close" } as const; // headers of errors after which the connection ends

/** Returns a temporary error. @param seconds Until the next attempt; may be a `{parameter}`. */
function temporary<const T extends string, const S extends string>(status: number, seconds: S, text: T) {
  return { status, text, headers: { "Retry-After": seconds } } as const;
}

/** Returns a {@link temporary} error that asks people to try again later. */
function later<const T extends string, const S extends string>(status: number, seconds: S, text: T) {
  return temporary(status, seconds, `${text}. Please try again later`);
}

/** While lines or records cannot be written. */
const NOT_NOW = later(503, "30", "The service cannot process this request at the moment");

/** Errors that callers can meet, made by {@link httpError}. Codes are stable; clients rely on them, not on texts. */
export const ERRORS = {
  ERR_ACCESS_REFUSED: { status: 403, text: "You may not access this path" },
  ERR_ACCOUNT_REFUSED: { status: 403, text: "Transfers with this account are not allowed" },
  ERR_ATTRIBUTE_SOURCE: later(503, "10", "Your permissions cannot be looked up at the moment"),
  ERR_AUDIT_UNAVAILABLE: NOT_NOW,
  ERR_AUTHENTICATION_UNAVAILABLE: later(503, "{seconds}", "Your credentials cannot be checked at the moment"),
  ERR_BAD_FORWARDING: { status: 400, text: "The gateway sent an invalid client address" },
  ERR_BAD_REQUEST: { status: 400, text: "The request could not be read", headers: CLOSES },
  ERR_BODY_TOO_LARGE: { status: 413, text: "The request body is too large", headers: CLOSES },
  ERR_CERTIFICATE_REFUSED: { status: 403, text: "The certificate is not accepted: {why}" },
  ERR_CLIENT_GONE: { status: 400, text: "The request ended early" },
  ERR_CONTENT_CHANGED: { status: 409, text: "The content has changed. Check it again before you delete it" },
  ERR_DAEMON_REFUSED: { status: 502, text: "The transfer server refused the request" },
  ERR_DAEMON_REPLY_INVALID: { status: 502, text: "The transfer server gave an invalid answer" },
  ERR_DAEMON_SESSION: { status: 502, text: "The transfer server did not complete the request" },
  ERR_DAEMON_SESSION_TIMEOUT: { status: 504, text: "The transfer timed out" },
  ERR_DAEMON_TIMEOUT: { status: 504, text: "The transfer server did not answer in time" },
  ERR_DAEMON_UNAVAILABLE: later(503, "5", "The transfer server is not available"),
  ERR_DIGEST_MISMATCH: { status: 400, text: "The received file does not match the digest in the request" },
  ERR_DRAINING: temporary(503, "10", "The service is draining and will stop soon"),
  ERR_ENCRYPTION_NOT_SUPPORTED: {
    status: 501,
    text: "The transfer server does not encrypt data connections. Please try without encryption",
  },
  ERR_EXISTS: {
    status: 405,
    text: "A file or directory with this name already exists",
    headers: { Allow: "OPTIONS, PROPFIND, GET, HEAD, PUT, DELETE, COPY, MOVE, LOCK, UNLOCK" },
  },
  ERR_EXPECTATION_FAILED: {
    status: 417,
    text: "The service supports no expectation except 100-continue",
    headers: CLOSES,
  },
  ERR_FORBIDDEN: { status: 403, text: "You may not do this" },
  ERR_FOREIGN_PAGE: { status: 403, text: "The request came from a page of another site" },
  ERR_GROUP_NOT_AVAILABLE: { status: 400, text: "The requested group is not available to you" },
  ERR_HEADERS_TOO_LARGE: { status: 431, text: "The request header fields are too large", headers: CLOSES },
  ERR_HEADER_TOO_LONG: { status: 431, text: "The header {name} is longer than {limit} characters" },
  ERR_HTTP_VERSION: { status: 505, text: "Please use HTTP/1.1", headers: CLOSES },
  ERR_INSTANCE_UNKNOWN: { status: 404, text: "This transfer server does not exist" },
  ERR_INTERNAL: { status: 500, text: "Internal error" },
  ERR_INVALID_NAME: { status: 400, text: "Invalid distinguished name" },
  ERR_INVALID_PATH: { status: 400, text: "Invalid path: {diagnostic}" },
  // credentials.md 1.8 says 403
  ERR_INVALID_PREFERENCES: { status: 403, text: "User preferences must have the form key:value,key:value" },
  ERR_INVALID_REQUEST: { status: 400, text: "{text}" },
  ERR_INVALID_TOKEN_REQUEST: { status: 400, text: "{text}" },
  ERR_INVALID_VALUE: { status: 400, text: "Invalid value for {field}: expected {expected}" },
  ERR_KEY_LOOKUP_FAILED: later(503, "5", "The service cannot check your SSH key at the moment"),
  ERR_LENGTH_REQUIRED: { status: 411, text: "Content-Length is required" },
  ERR_LIMITS_FROM_HOME: {
    status: 403,
    text:
      "Your path limits are relative to your home directory, so only sessions that start there are possible",
  },
  ERR_LINK_PASSWORD: {
    status: 401,
    text: "This link requires a password",
    headers: { "WWW-Authenticate": 'Basic realm="link, without user name", charset="UTF-8"' },
  },
  ERR_LISTEN_SOCKET_UNREACHABLE: later(503, "10", "The transfer server does not answer"),
  ERR_LOCKED: { status: 423, text: "Another user or program has locked this file or directory" },
  ERR_LOGIN_BOUND: {
    status: 403,
    text: "A token bound to a key or certificate cannot be exchanged for an unbound token",
  },
  ERR_LOGIN_NOT_DERIVABLE: {
    status: 403,
    text:
      "This login cannot, or can no longer, be exchanged for a token or a browser session. Log in again, or send credentials with each request",
  },
  ERR_LOGIN_TOO_NARROW: { status: 403, text: "Your token allows only transfers in some directories" },
  ERR_METHOD_NOT_ALLOWED: {
    status: 405,
    text: "This method is not allowed here",
    headers: { Allow: "{allowed}" },
  },
  ERR_METHOD_UNKNOWN: { status: 501, text: "This method is not implemented", headers: CLOSES },
  ERR_NOT_ACCEPTABLE: { status: 406, text: "This resource is available as {offered}" },
  ERR_NOT_A_FILE: { status: 409, text: "This name belongs to a directory or a special file" },
  ERR_NOT_EMPTY: { status: 409, text: "The directory has entries that the transfer server does not show" },
  ERR_NOT_FOUND: { status: 404, text: "{what} was not found" },
  ERR_NOT_PERMITTED: { status: 403, text: "{text}" },
  ERR_NOT_READY: temporary(503, "10", "No transfer server is available"),
  ERR_NO_ACCOUNT: { status: 401, text: "You have no account on this server" },
  ERR_NO_DIRECTORY: { status: 409, text: "The parent directory does not exist" },
  ERR_NO_LOCK: { status: 409, text: "The lock token is not valid for this file or directory" },
  ERR_OTHER_FILE_SYSTEM: { status: 409, text: "The target is on another file system: copy, then delete" },
  ERR_OTHER_SERVER: { status: 502, text: "The destination is on another server" },
  ERR_OUTSIDE_CAPABILITIES: { status: 403, text: "Your token does not allow a session in this directory" },
  ERR_OUTSIDE_LIMITS: { status: 403, text: "Your allowed and forbidden paths exclude this directory" },
  ERR_OVERLAP: { status: 403, text: "Source and destination are the same, or one contains the other" },
  ERR_PAGE_OUTDATED: { status: 403, text: "This page has expired. Please try again" },
  ERR_PERMISSIONS_CHANGED: temporary(503, "1", "Permissions have just changed. Please try again"),
  ERR_PRECONDITION_FAILED: { status: 412, text: "The file does not meet the conditions of the request" },
  ERR_PREFERENCE_NOT_ALLOWED: {
    status: 403,
    text: "The requested account, group or role is not available to you",
  },
  ERR_QUOTA_USED: { status: 507, text: "The share is full" },
  ERR_RECORD_STORE: NOT_NOW,
  ERR_REMOTE_UNAVAILABLE: later(503, "{seconds}", "Another system that this service needs does not answer"),
  ERR_REQUEST_TIMEOUT: { status: 408, text: "The request took too long to arrive", headers: CLOSES },
  ERR_SCOPE_NOT_EXPRESSIBLE: {
    status: 403,
    text: "UFTP cannot access this path. Please use the HTTP link of the share",
  },
  ERR_SERVER_DOWN: temporary(503, "10", "{status}: try this server again later"),
  ERR_SERVICE_STARTING: temporary(503, "1", "The service is starting. Please try again"),
  ERR_SESSION_LIMIT_REACHED: later(429, "5", "Too many open sessions on the transfer server"),
  ERR_SHARED_BY_ANOTHER: {
    status: 409,
    text:
      "Another user already shares this path, or a path above or below it, with the same recipients. You can share such a path only if it is in your home directory",
  },
  ERR_SHARE_NOT_FOUND: { status: 404, text: "This share does not exist or has ended" },
  ERR_SHARE_STORE: later(503, "30", "Shares are not available at the moment"),
  ERR_STORAGE_FULL: { status: 507, text: "The disk is full, or the disk quota of the account is used up" },
  ERR_STRONGER_LOGIN_NEEDED: { status: 403, text: "This server requires another login: {needed}" },
  ERR_TARGET_TOO_LONG: { status: 414, text: "The request target is too long", headers: CLOSES },
  ERR_TOKENS_NOT_KEPT: {
    status: 501,
    text: "This service keeps no list of tokens. Each token is valid until it expires",
  },
  ERR_TOKENS_UNAVAILABLE: temporary(503, "60", "Tokens cannot be issued at the moment"),
  ERR_TOKEN_LIFETIME: { status: 400, text: "The token lifetime must not exceed {longest} seconds" },
  ERR_TOKEN_NEEDS_IDENTITY: { status: 401, text: "Authentication is required to get a token" },
  ERR_TOKEN_NOT_RENEWABLE: { status: 403, text: "The token cannot be renewed" },
  ERR_TOKEN_RESTRICTIONS: { status: 403, text: "Your token is restricted: {restrictions}" },
  ERR_TOKEN_SUBJECT: { status: 400, text: "subject: expected the distinguished name of a user" },
  ERR_TOO_MANY_AT_ONCE: later(429, "1", "Too many logins at the same time"),
  ERR_TOO_MANY_CODES: later(429, "60", "Too many device logins"),
  ERR_TOO_MANY_FAILURES: later(429, "{seconds}", "Too many failed attempts, or a ban by an administrator"),
  ERR_TOO_MANY_LOCKS: { status: 507, text: "You have {most} locks, which is the limit" },
  ERR_TOO_MANY_SESSIONS: temporary(
    503,
    "6",
    "Too many concurrent transfers with this account. Please try again in a few seconds",
  ),
  ERR_TOO_MANY_SHARES: {
    status: 403,
    text: "You have {most} shares on this server, which is the limit. Delete a share first",
  },
  ERR_TOO_MANY_UPLOADS: later(429, "600", "Too many uploads are unfinished"),
  ERR_TOO_MUCH_WORK: later(503, "5", "The service is busy"),
  ERR_TRANSFER_CODING: { status: 501, text: "This transfer coding is not supported", headers: CLOSES },
  ERR_TREE_TOO_LARGE: { status: 403, text: "The directory has too many entries or levels for one request" },
  ERR_UNAUTHENTICATED: {
    status: 401,
    text: "Authentication failed. This service accepts: {accepted}",
    headers: { "WWW-Authenticate": "{challenge}" },
  },
  ERR_UNKNOWN_PREFERENCE: {
    status: 400,
    text: "Unknown user preference; supported are uid, group, role and supplementaryGroups",
  },
  ERR_UNKNOWN_SERVER: { status: 404, text: "This server does not exist" },
  ERR_UNSUPPORTED_CODING: {
    status: 415,
    text: "The service does not accept a Content-Encoding in requests",
    headers: { "Accept-Encoding": "identity" },
  },
  ERR_UNSUPPORTED_MEDIA_TYPE: { status: 415, text: "The request body must be of type {expected}" },
  ERR_UPLOAD_INCOMPLETE: { status: 502, text: "The upload is incomplete" },
  ERR_UPLOAD_OFFSET: {
    status: 409,
    text: "The service has {offset} bytes of this upload",
    headers: { "Upload-Offset": "{offset}" },
  },
  ERR_USER_ATTRIBUTE: {
    status: 500,
    text: "Your settings for this server are invalid. Please contact its operators",
  },
} as const satisfies Record<`ERR_${Uppercase<string>}`, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
