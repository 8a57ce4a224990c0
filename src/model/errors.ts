/** Facts about an error code for response, manual and types. */
export interface ErrorRow {
  readonly status: number;
  /** Text for the caller, with `{parameters}`; contains no addresses, paths, accounts or internals. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>; // further response headers, with `{parameters}`
  readonly meaning: string; // manual: what happened
  readonly remedy: string; // manual: what to do
}

/** Errors that callers can meet, made by {@link httpError}. Codes are stable; clients rely on them, not on texts. */
export const ERRORS = {
  ERR_ACCESS_REFUSED: {
    status: 403,
    text: "You may not access this path",
    meaning: "The Unix account lacks permission for this path.",
    remedy: "Check the owner and mode of the file on the daemon's host.",
  },
  ERR_ACCOUNT_REFUSED: {
    status: 403,
    text: "Transfers with this account are not allowed",
    meaning: "The service never opens sessions for this account, whatever the attribute sources say.",
    remedy:
      "Map the user to another account. The service refuses `root`, `toor` and user id 0; daemons refuse every other account with user id 0.",
  },
  // authentication.md 10.8
  ERR_ATTRIBUTE_SOURCE: {
    status: 503,
    text: "Your permissions cannot be looked up at the moment, please try again later",
    headers: { "Retry-After": "10" },
    meaning:
      "An attribute source failed. It might forbid what another source allows (a ban, a lower limit), so the request fails.",
    remedy:
      "The log names the source. Repair it, or set `optional=true` for it if the service may continue without it.",
  },
  ERR_AUDIT_UNAVAILABLE: {
    status: 503,
    text: "This is not possible at the moment, please try again later",
    headers: { "Retry-After": "30" },
    meaning:
      "The request needs an audit line, audit lines cannot be written, and `container.audit.required` is set. The request had no effect.",
    remedy: "`authserver status` names the cause: usually the disk of the audit file is full.",
  },
  ERR_AUTHENTICATION_UNAVAILABLE: {
    status: 503,
    text: "Your credentials cannot be checked at the moment, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning:
      "An authenticator that might have accepted the caller failed, and no other authenticator accepted.",
    remedy: "The log names the authenticator and the reason. Often an identity provider does not answer.",
  },
  ERR_BAD_FORWARDING: {
    status: 400,
    text: "The gateway sent invalid headers",
    meaning: "A configured gateway sent an invalid forwarding header.",
    remedy: "Compare the gateway's `X-UNICORE-…` headers with the log, and check `gateway.trustedPeers`.",
  },
  ERR_BAD_REQUEST: {
    status: 400,
    text: "The request could not be read",
    headers: { Connection: "close" },
    meaning: "The client did not send a valid HTTP request.",
    remedy: "Check the client. It is broken or does not speak HTTPS.",
  },
  ERR_BODY_TOO_LARGE: {
    status: 413,
    text: "The request body is too large",
    headers: { Connection: "close" },
    meaning: "The request body exceeds the limit for this resource.",
    remedy: "Send a smaller body. Transfer files with UFTP or through a share.",
  },
  ERR_CERTIFICATE_REFUSED: {
    status: 403,
    text: "The certificate is not accepted: {why}",
    meaning: "The service does not accept this OpenSSH certificate; the text gives the reason.",
    remedy:
      "Request a new certificate, or check `certificateAuthorities` and `revokedKeys`. `ssh-keygen -L -f id_ed25519-cert.pub` shows the certificate; `authserver whoami-test USER --certificate FILE` explains the decision.",
  },
  ERR_CLIENT_GONE: {
    status: 400,
    text: "The request ended early",
    meaning:
      "The client closed the connection before the service had read the request. Nobody sees this answer.",
    remedy: "No action needed.",
  },
  ERR_DAEMON_REFUSED: {
    status: 502,
    text: "The transfer server refused the request",
    meaning:
      "A daemon refused the request. Its message goes only to the log because it can contain account names.",
    remedy:
      "Read the daemon's message in the log. Often its host does not know the account, or its ACL lacks the service's certificate.",
  },
  ERR_DAEMON_REPLY_INVALID: {
    status: 502,
    text: "The transfer server gave an invalid answer",
    meaning: "A daemon accepted the request and sent an invalid reply.",
    remedy: "Check that `commandHost` and `commandPort` point to the command socket of a UFTPD.",
  },
  ERR_DAEMON_SESSION: {
    status: 502,
    text: "The transfer server did not complete the request",
    meaning:
      "The daemon sent an unexpected reply, refused a command or closed the session. Its message goes only to the log.",
    remedy: "Read the daemon's message in the log.",
  },
  ERR_DAEMON_SESSION_TIMEOUT: {
    status: 504,
    text: "The transfer timed out",
    meaning: "The daemon or the client sent nothing for too long.",
    remedy: "Check the load of the daemon and the network between the daemon and the service.",
  },
  ERR_DAEMON_TIMEOUT: {
    status: 504,
    text: "The transfer server did not answer in time",
    meaning: "A daemon accepted the request and did not answer in time.",
    remedy: "Check the daemon: it accepts connections but does not answer. If this persists, restart it.",
  },
  ERR_DAEMON_UNAVAILABLE: {
    status: 503,
    text: "The transfer server is not available, please try again later",
    headers: { "Retry-After": "5" },
    meaning: "No daemon of the group accepted the request. The client can safely try again.",
    remedy:
      "Check that the daemon runs, that the service can reach it, and both certificates; see [Troubleshooting](troubleshooting.md).",
  },
  ERR_DIGEST_MISMATCH: {
    status: 400,
    text: "The file that arrived does not have the digest of the request",
    meaning:
      "`Repr-Digest` or `OC-Checksum` differs from the daemon's checksum of the uploaded file, which is deleted.",
    remedy: "Send the file again.",
  },
  ERR_DRAINING: {
    status: 503,
    text: "The service is draining and will stop soon",
    headers: { "Retry-After": "10" },
    meaning:
      "Only health checks get this answer: the service was stopped and waits for `container.drainSeconds`.",
    remedy: "No action needed: the load balancer sends clients to another instance.",
  },
  ERR_ENCRYPTION_NOT_SUPPORTED: {
    status: 501,
    text: "The transfer server does not encrypt data connections, please try without encryption",
    meaning: "The user asked for encrypted data connections (`-E`), and no daemon of the server can encrypt.",
    remedy: "Set a key length on a daemon of the server, or transfer without `-E`.",
  },
  ERR_EXISTS: {
    status: 405,
    text: "There is already something of this name",
    headers: { Allow: "OPTIONS, PROPFIND, GET, HEAD, PUT, DELETE, COPY, MOVE, LOCK, UNLOCK" },
    meaning: "A directory cannot be made where there is a file or directory (RFC 4918, 9.3.1).",
    remedy: "Choose another name.",
  },
  ERR_EXPECTATION_FAILED: {
    status: 417,
    text: "This expectation cannot be met",
    headers: { Connection: "close" },
    meaning: "The client sent an `Expect` header other than `100-continue` (RFC 9110, 10.1.1).",
    remedy: "Send `Expect: 100-continue`, or no `Expect` header.",
  },
  ERR_FORBIDDEN: {
    status: 403,
    text: "You may not do this",
    meaning: "The caller is authenticated but lacks the required role.",
    remedy: "Give the user the role `user` in an attribute source. The role `banned` forbids everything.",
  },
  ERR_FOREIGN_PAGE: {
    status: 403,
    text: "The request came from a page of another site",
    meaning:
      "The browser says (`Sec-Fetch-Site`, `Origin`) that another site sent this form. The service protects the user from cross-site request forgery.",
    remedy:
      "Use the pages of the service. Behind a proxy, set `container.externalurl` to the address that browsers use, and pass `Host` and `Origin` unchanged.",
  },
  ERR_GROUP_NOT_AVAILABLE: {
    status: 400,
    text: "The requested group is not available to you",
    meaning: "The user is not in the requested group.",
    remedy: "Ask for one of `availableGroups`, or add the group in an attribute source.",
  },
  ERR_HEADERS_TOO_LARGE: {
    status: 431,
    text: "The request header fields are too large",
    headers: { Connection: "close" },
    meaning: "The request headers exceed the limit (RFC 6585, 5).",
    remedy: "Send fewer or shorter headers. Perhaps a token is too long.",
  },
  ERR_HEADER_TOO_LONG: {
    status: 431,
    text: "The header {name} is longer than {limit} characters",
    meaning: "One request header exceeds the limit (RFC 6585, 5).",
    remedy: "Shorten the header that the text names.",
  },
  ERR_HTTP_VERSION: {
    status: 505,
    text: "Please use HTTP/1.1",
    headers: { Connection: "close" },
    meaning: "The service does not support this version of HTTP.",
    remedy: "Use HTTP/1.1.",
  },
  // rest-api.md 1.2
  ERR_INSTANCE_UNKNOWN: {
    status: 404,
    text: "This transfer server does not exist",
    meaning: "The server group has no daemon with this number.",
    remedy: "Ask for the server without a number, or for a configured daemon.",
  },
  ERR_INTERNAL: {
    status: 500,
    text: "Internal error",
    meaning: "A defect in the service.",
    remedy: "Look up the request's id in the log and report what you find.",
  },
  ERR_INVALID_NAME: {
    status: 400,
    text: "Invalid distinguished name",
    meaning: "The text is not a distinguished name.",
    remedy: "Write the name as `CN=Ann Example, O=Site, C=DE`.",
  },
  ERR_INVALID_ORDER: {
    status: 400,
    text: "Invalid value for {field}: expected {expected}",
    meaning:
      "The value contains characters that the service never sends to a daemon. The service sent nothing; it neither shows nor logs the value.",
    remedy: "Remove such characters, for example line breaks, from the path, group or pattern.",
  },
  ERR_INVALID_PATH: {
    status: 400,
    text: "Invalid path: {diagnostic}",
    meaning: "The service does not send this path to a daemon.",
    remedy: "Use an absolute path without `..` that names a file or directory.",
  },
  // authentication.md 1.8 says 403
  ERR_INVALID_PREFERENCES: {
    status: 403,
    text: "User preferences must have the form key:value,key:value",
    meaning: "The preferences header does not have the form `key:value[,key:value…]`.",
    remedy: "Write `X-UNICORE-User-Preferences` as `uid:ann,group:hpc`.",
  },
  ERR_INVALID_REQUEST: {
    status: 400,
    text: "{text}",
    meaning: "A field of the request is invalid. The text names the field and the expected value.",
    remedy: "Correct the field that the text names.",
  },
  ERR_INVALID_TOKEN_REQUEST: {
    status: 400,
    text: "{text}",
    meaning: "A query parameter of a token request is invalid.",
    remedy:
      "Use `lifetime=<seconds>`, `renewable=true`, `limited=true`, `path=/directory/`, `activity=read`, `server=<name>`, `address=<range>`, `name=<text>`.",
  },
  ERR_KEY_LOOKUP_FAILED: {
    status: 503,
    text: "Signing in is not possible at the moment, please try again later",
    headers: { "Retry-After": "5" },
    meaning:
      "The service could not ask all daemons for the user's SSH keys, so it can neither accept nor reject the key.",
    remedy: "Repair the daemon that does not answer, or add the user's key to the keys file.",
  },
  ERR_LENGTH_REQUIRED: {
    status: 411,
    text: "Content-Length is required",
    meaning: "The share has a size limit, and the upload has no `Content-Length`.",
    remedy: "Upload a file instead of the output of a running program; `curl -T FILE` sends the length.",
  },
  ERR_LIMITS_FROM_HOME: {
    status: 403,
    text:
      "Your path limits are relative to your home directory, so only sessions that start there are possible",
    meaning:
      "The user has relative path limits, which apply only to sessions that start in the home directory.",
    remedy:
      "Begin the patterns of `includes` and `excludes` with a slash, or start the session in the home directory (empty `serverPath`).",
  },
  ERR_LINK_PASSWORD: {
    status: 401,
    text: "This link requires a password",
    headers: { "WWW-Authenticate": 'Basic realm="link, without user name", charset="UTF-8"' },
    meaning: "The share has a password, and the caller sent no password or a wrong one.",
    remedy: "Send the password of the link: `curl -u :PASSWORD`, or enter it in the browser.",
  },
  ERR_LISTEN_SOCKET_UNREACHABLE: {
    status: 503,
    text: "The transfer server does not answer, please try again later",
    headers: { "Retry-After": "10" },
    meaning: "The service cannot connect to the daemon's listen socket.",
    remedy: "Check `host` of the server and the firewalls between the service and the daemon.",
  },
  ERR_LOCKED: {
    status: 423,
    text: "This is locked",
    meaning:
      "Somebody has a lock on the file or directory, and the request does not show its token (RFC 4918, 11.3).",
    remedy: "Wait: a lock ends after an hour at the latest. The owner of the lock sends its token in `If`.",
  },
  ERR_LOGIN_BOUND: {
    status: 403,
    text: "A token with proof of possession cannot be exchanged for one without",
    meaning:
      "The caller's token is bound to a key (DPoP) or a certificate. A token of this service would not be bound, which would undo the protection (RFC 9449, 7.2).",
    remedy: "Send the bound token with each request, or log in another way to get a token of this service.",
  },
  ERR_LOGIN_NOT_DERIVABLE: {
    status: 403,
    text:
      "This kind of login cannot be exchanged for a token or a browser session, please log in with each request",
    meaning:
      "The `derivedLifetime` of the authenticator has passed or is 0, so the service issues no token and no browser session.",
    remedy: "Log in again. The operator sets `derivedLifetime`.",
  },
  ERR_LOGIN_TOO_NARROW: {
    status: 403,
    text: "Your token allows only transfers in some directories",
    meaning: "Scopes restrict the caller's token. Creating tokens and shares requires an unrestricted login.",
    remedy: "Log in another way, or use a token without `capabilities`.",
  },
  ERR_METHOD_NOT_ALLOWED: {
    status: 405,
    text: "This method is not allowed here",
    headers: { Allow: "{allowed}" },
    meaning: "The resource does not support this HTTP method, or the method is TRACE.",
    remedy: "The header `Allow` lists the supported methods.",
  },
  ERR_METHOD_UNKNOWN: {
    status: 501,
    text: "This method is not implemented",
    headers: { Connection: "close" },
    meaning: "The service does not implement this HTTP method (RFC 9110, 15.6.2).",
    remedy: "Use GET, HEAD, POST, PUT, DELETE or OPTIONS.",
  },
  ERR_NOT_ACCEPTABLE: {
    status: 406,
    text: "This resource is available as {offered}",
    meaning: "The resource has no media type that the client accepts (RFC 9110, 15.5.7).",
    remedy: "Ask for one of the media types in the text.",
  },
  ERR_NOT_A_FILE: {
    status: 409,
    text: "This name belongs to something other than a file",
    meaning: "The target exists and is not a regular file, so an upload cannot replace it.",
    remedy: "Choose the name of a file, or a new name.",
  },
  ERR_NOT_FOUND: {
    status: 404,
    text: "There is nothing {where}",
    meaning:
      "The resource does not exist; or the share has no file with that name, or hides it. The answer is the same in all cases.",
    remedy: "Check the path. For a share, ask its owner.",
  },
  ERR_NOT_PERMITTED: {
    status: 403,
    text: "{text}",
    meaning: "The caller is authenticated and may not do this.",
    remedy: "The text says what the caller may not do.",
  },
  ERR_NOT_READY: {
    status: 503,
    text: "No transfer server is available",
    headers: { "Retry-After": "10" },
    meaning: "No server can open a session.",
    remedy: "Check the daemons: not a single daemon answers.",
  },
  ERR_NO_DIRECTORY: {
    status: 409,
    text: "The directory that should contain this does not exist",
    meaning: "A file or directory cannot be made in a directory that does not exist.",
    remedy: "Make the directory first.",
  },
  ERR_NO_LOCK: {
    status: 409,
    text: "There is no such lock here",
    meaning: "`Lock-Token` names no lock on this file or directory: it has ended, or is another's.",
    remedy: "No action needed, unless the token was misspelt.",
  },
  ERR_NO_ACCOUNT: {
    status: 401,
    text: "You have no account on this server",
    meaning: "The service knows the user, but the user has no Unix account on this server.",
    remedy: "Give the user an `xlogin` in an attribute source, for all servers or for this server.",
  },
  ERR_OTHER_SERVER: {
    status: 502,
    text: "The destination is on another server",
    meaning: "The service copies and moves within one transfer server only.",
    remedy: "Name a destination below the same `/dav/<server>/`, or copy with a UFTP client.",
  },
  ERR_OUTSIDE_CAPABILITIES: {
    status: 403,
    text: "Your token does not allow a session in this directory",
    meaning:
      "The session would start outside the directories in the token's scopes, or the daemon could not enforce the scopes.",
    remedy:
      "Ask for a `serverPath` that `GET /rest/auth` lists under `capabilities`. The log has the reason.",
  },
  ERR_OUTSIDE_LIMITS: {
    status: 403,
    text: "Your allowed and forbidden paths exclude this directory",
    meaning: "The user's path limits exclude everything in this directory.",
    remedy: "Compare the user's `includes` and `excludes` with the requested `serverPath`.",
  },
  ERR_OVERLAP: {
    status: 403,
    text: "Source and destination are the same, or one contains the other",
    meaning: "Nothing can be copied or moved onto itself, into itself, or in place of what contains it.",
    remedy: "Choose another destination.",
  },
  ERR_PAGE_OUTDATED: {
    status: 403,
    text: "This page has expired. Please try again",
    meaning:
      "The form belongs to another browser session or to the time before a sign-in or sign-out; or the browser rejects cookies.",
    remedy: "Reload the page. Allow cookies of the service.",
  },
  ERR_PRECONDITION_FAILED: {
    status: 412,
    text: "The file does not meet the conditions of the request",
    meaning:
      "The file differs from the version that the request wants to replace, or it exists although the request requires that it does not.",
    remedy: "Download the current file and decide again.",
  },
  ERR_PREFERENCE_NOT_ALLOWED: {
    status: 403,
    text: "The requested account, group or role is not available to you",
    meaning: "The requested value is not one of the caller's allowed values.",
    remedy: "Ask for one of the listed values.",
  },
  ERR_QUOTA_USED: {
    status: 507,
    text: "The share is full",
    meaning: "The upload share has reached its limit of files or bytes. Unfinished uploads count.",
    remedy: "Ask the owner to raise the limit. Unfinished uploads stop counting after one day.",
  },
  ERR_RECORD_STORE: {
    status: 503,
    text: "This is not possible at the moment, please try again later",
    headers: { "Retry-After": "30" },
    meaning:
      "The service cannot read or write its store of tokens and certificates, for example because the database is down.",
    remedy:
      "The log names the cause: usually the disk of `persistence.directory` is full, or PostgreSQL is unreachable.",
  },
  ERR_REMOTE_UNAVAILABLE: {
    status: 503,
    text: "Another system that this service needs does not answer, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning:
      "Another system, for example an identity provider, gave no usable answer. The caller's credentials may be valid.",
    remedy: "The log names the system and the reason: certificate, host name or time-out.",
  },
  ERR_REQUEST_TIMEOUT: {
    status: 408,
    text: "The request took too long to arrive",
    headers: { Connection: "close" },
    meaning: "The service did not receive the complete request in time.",
    remedy: "Send the request again; the network may be slow.",
  },
  ERR_SCOPE_NOT_EXPRESSIBLE: {
    status: 403,
    text: "UFTP cannot access this path, please use the HTTP link of the share",
    meaning:
      "A daemon session cannot enforce the limits of this share. HTTP access works, because the service enforces them there.",
    remedy: "Use the share's `http` link.",
  },
  ERR_SERVER_DOWN: {
    status: 503,
    text: "{status}",
    headers: { "Retry-After": "10" },
    meaning: "No daemon of the server can take a session.",
    remedy: "Try again later. Operators: check the daemons of this server.",
  },
  ERR_SERVICE_STARTING: {
    status: 503,
    text: "The service is starting, please try again",
    headers: { "Retry-After": "1" },
    meaning: "The core worker is starting or restarting.",
    remedy: "Try again in a second. If this persists, the log says why the core does not start.",
  },
  ERR_SESSION_LIMIT_REACHED: {
    status: 429,
    text: "Too many open sessions on the transfer server, please try again later",
    headers: { "Retry-After": "5" },
    meaning:
      "The account has reached the daemons' session limit. The slot of an ended session becomes free after 5 s.",
    remedy: "Wait for other transfers to end, or raise the session limit of the daemon.",
  },
  ERR_SHARED_BY_ANOTHER: {
    status: 409,
    text:
      "Someone else already shares this path, or one above or below it, with the same people; you can only share such paths in your own home directory",
    meaning:
      "The new share would take precedence over another owner's earlier share for the same recipients.",
    remedy:
      "Ask the other owner to share the path or to end their share. `authserver share list` shows operators the owner.",
  },
  ERR_SHARE_NOT_FOUND: {
    status: 404,
    text: "This share does not exist or has ended",
    meaning: "The share does not exist, or it has ended. The answer is the same in both cases.",
    remedy: "Ask the owner for a new share.",
  },
  ERR_SHARE_STORE: {
    status: 503,
    text: "Shares are not available at the moment, please try again later",
    headers: { "Retry-After": "30" },
    meaning:
      "The service cannot read or write the share store, for example because the disk is full or the database is down.",
    remedy:
      "The log names the cause: usually the disk of `persistence.directory` is full, or PostgreSQL is unreachable.",
  },
  ERR_STORAGE_FULL: {
    status: 507,
    text: "The disk to which the file is written is full, or its owner's quota there is used",
    meaning: "The daemon could not write a file for lack of space, or beyond the disk quota of the account.",
    remedy: "Make room on the daemon's disk, or raise the quota of the account.",
  },
  ERR_STRONGER_LOGIN_NEEDED: {
    status: 403,
    text: "This server requires another login: {needed}",
    meaning:
      "The server requires another authenticator, a stronger or more recent login, or another network.",
    remedy:
      "Log in as the text says. The server's `methods`, `requiredAcr`, `maxAuthAge` and `networks` set the requirements.",
  },
  ERR_TARGET_TOO_LONG: {
    status: 414,
    text: "The request target is too long",
    headers: { Connection: "close" },
    meaning: "The request line exceeds the limit (RFC 9110, 15.5.15).",
    remedy: "Shorten the URL; send parameters in the body.",
  },
  ERR_TOKENS_NOT_KEPT: {
    status: 501,
    text: "This service keeps no list of tokens, each token is valid until it expires",
    meaning:
      "Without `persistence.directory` the service stores no tokens, so it can neither list nor revoke them.",
    remedy: "Set `persistence.directory`. The list then shows existing tokens after their next use.",
  },
  ERR_TOKENS_UNAVAILABLE: {
    status: 503,
    text: "Tokens cannot be issued at the moment",
    headers: { "Retry-After": "60" },
    meaning: "The service cannot issue tokens because its own certificate is missing or has expired.",
    remedy: "Configure or renew the certificate of the service.",
  },
  ERR_TOKEN_LIFETIME: {
    status: 400,
    text:
      "The token lifetime must not exceed {longest} seconds, the operator can permit more with container.security.rest.jwt.maxLifetime",
    meaning: "The requested token lifetime exceeds the limit.",
    remedy: "Ask for a shorter lifetime, or raise `container.security.rest.jwt.maxLifetime`.",
  },
  ERR_TOKEN_NEEDS_IDENTITY: {
    status: 401,
    text: "Authentication is required to get a token",
    meaning: "An anonymous caller asked for a token.",
    remedy: "Send credentials.",
  },
  ERR_TOKEN_NOT_RENEWABLE: {
    status: 403,
    text: "The token cannot be renewed",
    meaning: "The caller used a token that is not renewable to ask for a new token.",
    remedy: "Log in again, or ask for a renewable token at the first login.",
  },
  ERR_TOKEN_RESTRICTIONS: {
    status: 403,
    text: "Your token is restricted: {restrictions}",
    meaning:
      "The request exceeds the restrictions of the token, or asks for a token with fewer restrictions.",
    remedy: "Stay within the restrictions, or log in another way.",
  },
  ERR_TOKEN_SUBJECT: {
    status: 400,
    text: "subject: expected the distinguished name of a user",
    meaning:
      "An administrator asked for a token for a name that is not a user's: invalid, anonymous, or the service's own name.",
    remedy: "Use the name that the attribute sources use.",
  },
  ERR_TOO_MANY_AT_ONCE: {
    status: 429,
    text: "Too many logins at the same time, please try again later",
    headers: { "Retry-After": "1" },
    meaning:
      "Too many logins waited, and this login got no turn within a few seconds. The service did not check the credentials.",
    remedy: "Try again in a second, with fewer concurrent requests.",
  },
  ERR_TOO_MANY_CODES: {
    status: 429,
    text: "Too many device logins, please try again later",
    headers: { "Retry-After": "60" },
    meaning:
      "This address started too many device logins, this user entered too many codes, or too many device logins are open.",
    remedy: "Wait as long as `Retry-After` says. An approved or denied login counts for ten minutes.",
  },
  ERR_TOO_MANY_FAILURES: {
    status: 429,
    text: "Too many failed attempts, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning:
      "Login throttling delays this user or address. The service did not check the credentials, and answers in the same way for unknown users.",
    remedy: "Wait as long as `Retry-After` says. Operators: see `container.security.throttling`.",
  },
  ERR_TOO_MANY_LOCKS: {
    status: 507,
    text: "You have {most} locks, which is the limit",
    meaning: "A user can have a limited number of WebDAV locks at a time.",
    remedy: "Close documents that are open, or wait: a lock ends after an hour at the latest.",
  },
  ERR_TOO_MANY_SESSIONS: {
    status: 503,
    text: "Too many concurrent transfers with this account, please try again in a few seconds",
    headers: { "Retry-After": "6" },
    meaning: "The account uses all its sessions.",
    remedy: "Try again in a few seconds.",
  },
  ERR_TOO_MANY_SHARES: {
    status: 403,
    text: "You have {most} shares on this server, which is the limit; please end some first",
    meaning: "The user has reached the limit of shares. The user can still change and end existing shares.",
    remedy: "End unused shares, or raise `share.maxPerUser`.",
  },
  ERR_TOO_MANY_UPLOADS: {
    status: 429,
    text: "Too many uploads to this share are unfinished, please try again later",
    headers: { "Retry-After": "600" },
    meaning: "The share has 500 unfinished uploads. Complete files do not count.",
    remedy:
      "Finish interrupted uploads. The service deletes an unfinished upload one day after its last byte.",
  },
  ERR_TOO_MUCH_WORK: {
    status: 503,
    text: "The service is busy, please try again later",
    headers: { "Retry-After": "5" },
    meaning: "The queue of the service is full.",
    remedy: "Try again. If this happens often, the machine is too small for the load.",
  },
  ERR_TRANSFER_CODING: {
    status: 501,
    text: "This transfer coding is not supported",
    headers: { Connection: "close" },
    meaning: "The body uses a transfer coding other than `chunked` (RFC 9112, 6.1).",
    remedy: "Send the body with a length, or chunked.",
  },
  ERR_TREE_TOO_LARGE: {
    status: 403,
    text: "The directory has too many entries or levels for one request",
    meaning:
      "One request copies or deletes at most 100,000 entries in 64 levels. A part may be copied or deleted.",
    remedy: "Copy or delete its subdirectories one by one, or use a UFTP session.",
  },
  ERR_UNAUTHENTICATED: {
    status: 401,
    text: "Authentication failed. This service accepts: {accepted}",
    headers: { "WWW-Authenticate": "{challenge}" },
    meaning:
      "Authentication failed: missing or wrong credentials, an unknown user, or an invalid header. The answer is the same in all cases; the log has the reason.",
    remedy:
      "Check user name and password, key or token. Operators: the log has the reason of each authenticator under the request's id.",
  },
  ERR_UNKNOWN_PREFERENCE: {
    status: 400,
    text: "Unknown user preference; supported are uid, group, role and supplementaryGroups",
    meaning: "The caller sent an unsupported preference.",
    remedy: "Remove this preference.",
  },
  ERR_UNKNOWN_SERVER: {
    status: 404,
    text: "This server does not exist",
    meaning: "No server or daemon has this name or number.",
    remedy: "Ask for one of the servers that `GET /rest/auth` lists.",
  },
  ERR_UNSUPPORTED_CODING: {
    status: 415,
    text: "The request body must come without content coding",
    headers: { "Accept-Encoding": "identity" },
    meaning: "The body is compressed or otherwise encoded (RFC 9110, 8.4 and 15.5.16).",
    remedy: "Send the body without `Content-Encoding`. UFTP sessions can compress.",
  },
  ERR_UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    text: "The request body must be of type {expected}",
    meaning: "The resource does not read this media type (RFC 9110, 15.5.16).",
    remedy: "Send `Content-Type: application/json`.",
  },
  ERR_UPLOAD_INCOMPLETE: {
    status: 502,
    text: "The upload is incomplete",
    meaning:
      "The upload ended before all announced bytes arrived, or the daemon stored fewer bytes than it received.",
    remedy: "Send the file again. Check the quota of the share's owner.",
  },
  ERR_UPLOAD_OFFSET: {
    status: 409,
    text: "The service has {offset} bytes of this upload",
    headers: { "Upload-Offset": "{offset}" },
    meaning: "The piece does not start where the previous piece ended.",
    remedy: "Continue from the byte that the text and the header `Upload-Offset` name.",
  },
  ERR_USER_ATTRIBUTE: {
    status: 500,
    text: "Your settings for this server are invalid, please contact its operators",
    meaning:
      "An attribute source has an invalid value for this user. The service does not guess, because a guess could lift a limit.",
    remedy: "The log names the attribute. Correct it in the map file; `authserver check` finds such values.",
  },
} as const satisfies Record<`ERR_${Uppercase<string>}`, ErrorRow>;

/** Error code. */
export type ErrorCode = keyof typeof ERRORS;
