/** Facts about an error code for response, manual and types. */
export interface ErrorRow {
  readonly status: number;
  /** Text for the caller, with `{parameters}`; contains no addresses, paths, accounts or internals. */
  readonly text: string;
  /** Further response headers, with `{parameters}`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Manual: what happened. */
  readonly meaning: string;
  /** Manual: what to do. */
  readonly remedy: string;
}

/** Errors that callers can meet, made by {@link httpError}. Codes are stable; clients rely on them, not on texts. */
export const ERRORS = {
  ERR_ACCESS_REFUSED: {
    status: 403,
    text: "Access to this path is not possible",
    meaning: "The account may not do this with the path.",
    remedy: "Check owner and mode of the file on the daemon's host.",
  },
  ERR_ACCOUNT_REFUSED: {
    status: 403,
    text: "Transfers with this account are not possible",
    meaning: "An account that no session may run as, whatever the sources say.",
    remedy:
      "Give the user another account in the map file: `root`, `toor` and the number 0 are never used; daemons refuse all others with user id 0.",
  },
  // authentication.md 10.8
  ERR_ATTRIBUTE_SOURCE: {
    status: 503,
    text: "The rights of users cannot be looked up at the moment, please try again later",
    headers: { "Retry-After": "10" },
    meaning:
      "An attribute source is out of order. What it knows may forbid what another source allows (a ban, a lower limit), so the request fails rather than going on without it.",
    remedy:
      "The log names the source. Repair it, or set its `optional=true` if the service may go on without it.",
  },
  ERR_AUTHENTICATION_UNAVAILABLE: {
    status: 503,
    text: "Your credentials cannot be checked at the moment, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning: "A method that might have accepted the caller is out of order, and no other accepted.",
    remedy: "The log names the method and the reason, often an identity provider that does not answer.",
  },
  ERR_BAD_FORWARDING: {
    status: 400,
    text: "The gateway's headers could not be read",
    meaning: "A configured gateway sent a forwarding header that cannot be right.",
    remedy: "Compare what the gateway sends in `X-UNICORE-…` with the log; check `gateway.trustedPeers`.",
  },
  ERR_BAD_REQUEST: {
    status: 400,
    text: "The request could not be read",
    headers: { Connection: "close" },
    meaning: "What arrived is not an HTTP request.",
    remedy: "Something other than HTTPS, or a broken client, speaks to the port.",
  },
  ERR_BODY_TOO_LARGE: {
    status: 413,
    text: "The request body is too large",
    headers: { Connection: "close" },
    meaning: "The body of a request is longer than any this service reads whole.",
    remedy: "Send less: requests are small JSON texts. Files go by UFTP or into shares.",
  },
  ERR_CERTIFICATE_REFUSED: {
    status: 403,
    text: "The certificate is not accepted: {why}",
    meaning: "An OpenSSH certificate that does not count here, with the reason.",
    remedy:
      "Have the authority make another one (`ssh-keygen -L -f id_ed25519-cert.pub` shows what this one says), or compare with `certificateAuthorities` and `revokedKeys`; `authserver whoami-test USER --certificate FILE` explains.",
  },
  ERR_CLIENT_GONE: {
    status: 400,
    text: "The request ended early",
    meaning: "The client went away while its request was read; nobody sees the answer.",
    remedy: "None; the client went away.",
  },
  ERR_DAEMON_REFUSED: {
    status: 502,
    text: "The transfer server refused the request",
    meaning: "A daemon understood the request and said no. Its text is for the log: it can name accounts.",
    remedy:
      "The log has the daemon's words: often an account that its host does not know, or a certificate missing in its ACL.",
  },
  ERR_DAEMON_REPLY_INVALID: {
    status: 502,
    text: "The transfer server gave no valid answer",
    meaning: "A daemon took the request, and what came back is no reply.",
    remedy: "Check that `commandHost` and `commandPort` lead to the command socket of a UFTPD.",
  },
  ERR_DAEMON_SESSION: {
    status: 502,
    text: "The transfer server did not complete the request",
    meaning:
      "The daemon said something unexpected, refused a command or ended the session; its words are for the log only.",
    remedy: "The log has the daemon's words.",
  },
  ERR_DAEMON_SESSION_TIMEOUT: {
    status: 504,
    text: "The transfer did not go on in time",
    meaning: "The daemon, or the client behind us, was silent for too long.",
    remedy: "Look at the daemon's load, and at the network between it and the service.",
  },
  ERR_DAEMON_TIMEOUT: {
    status: 504,
    text: "The transfer server did not answer in time",
    meaning: "A daemon took the request and did not answer in time.",
    remedy: "Look at the daemon: it accepts connections and does not answer. Restart it if it stays so.",
  },
  ERR_DAEMON_UNAVAILABLE: {
    status: 503,
    text: "The transfer server is not available, please try again later",
    headers: { "Retry-After": "5" },
    meaning: "No instance could be asked, or none took the request: it is safe to try again later.",
    remedy:
      "Check that the daemon runs and can be reached, and both sides' certificates; see [Troubleshooting](troubleshooting.md).",
  },
  ERR_DRAINING: {
    status: 503,
    text: "The service is draining: it still serves, and ends soon",
    headers: { "Retry-After": "10" },
    meaning:
      "Told to health checks only: the service was told to stop, and waits for `container.drainSeconds`.",
    remedy: "Nothing: a load balancer sends clients to another instance, or to this one when it is back.",
  },
  ERR_ENCRYPTION_NOT_SUPPORTED: {
    status: 501,
    text: "The transfer server does not encrypt data connections, please try without encryption",
    meaning: "The daemon cannot encrypt data connections, and the session was to be encrypted.",
    remedy:
      "The user asked for encrypted data connections (`-E`), and no daemon of the server has a key length set.",
  },
  ERR_EXPECTATION_FAILED: {
    status: 417,
    text: "This expectation cannot be met",
    headers: { Connection: "close" },
    meaning: "The client expects something else than `100-continue` (RFC 9110, 10.1.1).",
    remedy: "Send no `Expect` header, or `100-continue`.",
  },
  ERR_FORBIDDEN: {
    status: 403,
    text: "You may not do this",
    meaning: "An authenticated caller who may not do this.",
    remedy: "Give the user the role `user` in an attribute source; `banned` is refused everything.",
  },
  ERR_FOREIGN_PAGE: {
    status: 403,
    text: "This came from a page of another site",
    meaning:
      "A form that no page of this service has sent, as the browser says (`Sec-Fetch-Site`, `Origin`): another site may want something done in a user's name.",
    remedy:
      "Use the pages of the service. Behind a proxy see to it that `container.externalurl` is the address that browsers have, and that `Host` or `Origin` stay as they are.",
  },
  ERR_GROUP_NOT_AVAILABLE: {
    status: 400,
    text: "The requested group is not available to you",
    meaning: "The requested group is not among the user's.",
    remedy: "Ask for one of `availableGroups`, or add the group in an attribute source.",
  },
  ERR_HEADERS_TOO_LARGE: {
    status: 431,
    text: "The request header fields are too large",
    headers: { Connection: "close" },
    meaning: "The header block of a request is over the limit (RFC 6585, 5).",
    remedy: "Send fewer or shorter header fields; a token may be too long.",
  },
  ERR_HEADER_TOO_LONG: {
    status: 431,
    text: "The header {name} is longer than {limit} characters",
    meaning: "One header field of a request is longer than any that makes sense (RFC 6585, 5).",
    remedy: "The text names the header; send a shorter one.",
  },
  ERR_HTTP_VERSION: {
    status: 505,
    text: "Please use HTTP/1.1",
    headers: { Connection: "close" },
    meaning: "A version of HTTP that this server does not speak.",
    remedy: "Use HTTP/1.1.",
  },
  // rest-api.md 1.2
  ERR_INSTANCE_UNKNOWN: {
    status: 404,
    text: "There is no such transfer server",
    meaning: "The group has no instance of this number.",
    remedy: "Ask for the server without number, or for an instance that is configured.",
  },
  ERR_INTERNAL: {
    status: 500,
    text: "Internal error",
    meaning: "A failure that no other code names: a defect of ours.",
    remedy: "Look up the request's id in the log, and report what you find there.",
  },
  ERR_INVALID_NAME: {
    status: 400,
    text: "Not a valid distinguished name",
    meaning: "Text that is no distinguished name.",
    remedy: "Write a name as `CN=Ann Example, O=Site, C=DE`.",
  },
  ERR_INVALID_ORDER: {
    status: 400,
    text: "Invalid value for {field}: expected {expected}",
    meaning:
      "A value that must not be sent to a daemon; nothing was sent. The value itself is neither shown nor logged.",
    remedy:
      "A path, group or pattern has characters that cannot be sent to a daemon, such as a line end; change it.",
  },
  ERR_INVALID_PATH: {
    status: 400,
    text: "Invalid path: {diagnostic}",
    meaning: "A path that no daemon is asked about.",
    remedy: "Use an absolute path without `..` that names a file or directory.",
  },
  // authentication.md 1.8 says 403
  ERR_INVALID_PREFERENCES: {
    status: 403,
    text: "User preferences must have the form key:value,key:value",
    meaning: "A preferences header that is not `key:value[,key:value…]`.",
    remedy: "Write `X-UNICORE-User-Preferences` as `uid:ann,group:hpc`.",
  },
  ERR_INVALID_REQUEST: {
    status: 400,
    text: "{text}",
    meaning:
      "A request that says something it may not say; the public message names the field and what was expected.",
    remedy: "The text names the member and what was expected.",
  },
  ERR_INVALID_TOKEN_REQUEST: {
    status: 400,
    text: "{text}",
    meaning: "A query parameter for a token cannot be read.",
    remedy:
      "Use `lifetime=<seconds>`, `renewable=true`, `limited=true`, `path=/directory/`, `activity=read`, `server=<name>`, `address=<range>`, `name=<text>`.",
  },
  ERR_KEY_LOOKUP_FAILED: {
    status: 503,
    text: "Signing in is not possible at the moment, please try again later",
    headers: { "Retry-After": "5" },
    meaning: "A user's key is neither confirmed nor refuted, since not all servers could be asked.",
    remedy: "Repair the daemon that does not answer, or put the user's key into the keys file.",
  },
  ERR_LENGTH_REQUIRED: {
    status: 411,
    text: "Say how long the file is, with Content-Length",
    meaning: "A file of unknown length, for a share that takes so many bytes and no more.",
    remedy: "Send a file, not what another program is still writing; `curl -T FILE` says how long it is.",
  },
  ERR_LIMITS_FROM_HOME: {
    status: 403,
    text:
      "Your allowed and forbidden paths count from your home directory: only sessions that begin there are possible",
    meaning:
      "Limits that hold only in sessions that begin in the home directory, for one that would begin elsewhere.",
    remedy:
      "Write the patterns of `includes` and `excludes` with a leading slash; or the user starts in the home directory (empty `serverPath`).",
  },
  ERR_LINK_PASSWORD: {
    status: 401,
    text: "This link has a password",
    headers: { "WWW-Authenticate": 'Basic realm="link, without user name", charset="UTF-8"' },
    meaning: "A share that has a password, and none was shown, or another.",
    remedy: "Show the password that the owner gave you: `curl -u :PASSWORD`, or in a browser by the form.",
  },
  ERR_LISTEN_SOCKET_UNREACHABLE: {
    status: 503,
    text: "The transfer server does not answer, please try again later",
    headers: { "Retry-After": "10" },
    meaning: "No connection to the daemon's listen socket.",
    remedy: "Check `host` of the server, and firewalls between this service and the daemon.",
  },
  ERR_LOGIN_BOUND: {
    status: 403,
    text:
      "Your token counts with a proof of possession alone, and is not exchanged for one that counts without",
    meaning:
      "A token that is bound to a key (DPoP) or a certificate was to become a token of this service, which whoever gets hold of it could use: that would undo the binding (RFC 9449, 7.2).",
    remedy: "Show the bound token itself with each request, or log in otherwise for a token of this service.",
  },
  ERR_LOGIN_NOT_DERIVABLE: {
    status: 403,
    text:
      "A login of this kind is not exchanged for a token or a browser session that lasts, please log in with each request",
    meaning:
      "A token of this service or a browser session was asked for, and the `derivedLifetime` of the authenticator that named the caller is over, or is 0.",
    remedy:
      "Log in anew; the operator decides by `derivedLifetime` how long a login counts without its source.",
  },
  ERR_LOGIN_TOO_NARROW: {
    status: 403,
    text: "Your token permits transfers in some directories only, and not this",
    meaning:
      "Tokens and shares are for callers who logged in without limits; this one did with a token whose scopes limit it.",
    remedy: "Log in otherwise, or by a token of another method, one without `capabilities`.",
  },
  ERR_METHOD_NOT_ALLOWED: {
    status: 405,
    text: "This method is not allowed here",
    headers: { Allow: "{allowed}" },
    meaning: "The resource does not know that method; or it is TRACE, which none has.",
    remedy: "The header `Allow` lists the methods of the resource.",
  },
  ERR_METHOD_UNKNOWN: {
    status: 501,
    text: "This method is not implemented",
    headers: { Connection: "close" },
    meaning:
      "A method that no resource could have: nobody has heard of it, or it is for proxies alone (RFC 9110, 15.6.2).",
    remedy: "Use one of GET, HEAD, POST, PUT, DELETE, OPTIONS; the service is no proxy.",
  },
  ERR_NOT_ACCEPTABLE: {
    status: 406,
    text: "This resource is available as {offered}",
    meaning: "The caller accepts none of the types that the resource has (RFC 9110, 15.5.7).",
    remedy: "Ask for one of the media types in the text.",
  },
  ERR_NOT_A_FILE: {
    status: 409,
    text: "There is something else than a file of this name",
    meaning: "What is there is no regular file, so it cannot be replaced by one.",
    remedy: "Choose the name of a file, or of none yet.",
  },
  ERR_NOT_FOUND: {
    status: 404,
    text: "There is nothing {where}",
    meaning:
      "No resource has that path; or nothing of that name is inside a share, or can be: callers do not learn which.",
    remedy: "Check the path; for shares, ask the owner.",
  },
  ERR_NOT_PERMITTED: {
    status: 403,
    text: "{text}",
    meaning: "A known caller who may not do this.",
    remedy: "The text says what is not allowed.",
  },
  ERR_NOT_READY: {
    status: 503,
    text: "No transfer server can take a session",
    headers: { "Retry-After": "10" },
    meaning: "No session can be created on any logical server.",
    remedy: "Look at the daemons: none of any server answers.",
  },
  ERR_NO_ACCOUNT: {
    status: 401,
    text: "You have no account on this server",
    meaning: "Somebody, but without Unix account on the server.",
    remedy: "Give the user an `xlogin` in an attribute source, for all servers or for this one.",
  },
  ERR_OUTSIDE_CAPABILITIES: {
    status: 403,
    text: "Your token permits no session in this directory",
    meaning:
      "A session that begins elsewhere than in a directory that a scope of the token names, or what daemons cannot enforce.",
    remedy:
      "Ask for a directory as `serverPath` that `GET /rest/auth` lists as `capabilities`; the log says what was wrong.",
  },
  ERR_OUTSIDE_LIMITS: {
    status: 403,
    text: "Your allowed and forbidden paths leave nothing of this directory",
    meaning: "A session where the user's limits leave nothing to be had.",
    remedy: "Compare `includes` and `excludes` of the user with the `serverPath` that was asked for.",
  },
  ERR_PAGE_OUTDATED: {
    status: 403,
    text: "The page was too old. Please try again",
    meaning:
      "A form of a page that was made for another browser, or before the browser was signed in or out; or the browser keeps no cookies.",
    remedy: "Load the page again. Cookies of the service must be allowed; it needs no others.",
  },
  ERR_PRECONDITION_FAILED: {
    status: 412,
    text: "What is there is not what the request has conditions for",
    meaning:
      "The version that the request wants to replace is not there, or there is one where it wants none.",
    remedy: "Get the file as it is now, and decide again.",
  },
  ERR_PREFERENCE_NOT_ALLOWED: {
    status: 403,
    text: "A preferred account, group or role is not available to you",
    meaning: "A preference that is not among the caller's allowed values.",
    remedy: "Ask for one of the values the list shows.",
  },
  ERR_QUOTA_USED: {
    status: 507,
    text: "There is no room for this file in the share",
    meaning:
      "A share for uploads has as many files or bytes as its owner permits, those included that are on their way.",
    remedy: "Ask the owner for more room; what was interrupted gives its room back after a day.",
  },
  ERR_RECORD_STORE: {
    status: 503,
    text: "This is not possible at the moment, please try again later",
    headers: { "Retry-After": "30" },
    meaning:
      "What is kept of certificates and tokens cannot be read or written, say because the database is away.",
    remedy:
      "The log names the cause: mostly the disk of `persistence.directory` is full, or PostgreSQL cannot be reached.",
  },
  ERR_REMOTE_UNAVAILABLE: {
    status: 503,
    text: "A system this service depends on does not answer, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning:
      "Another system, such as an identity provider, gave no answer that can be used. Says nothing about the caller.",
    remedy: "The log names the system and the reason: certificate, name, time-out.",
  },
  ERR_REQUEST_TIMEOUT: {
    status: 408,
    text: "The request took too long to arrive",
    headers: { Connection: "close" },
    meaning: "The request, or its body, did not arrive in time.",
    remedy: "Send the request again; the network may be slow.",
  },
  ERR_SCOPE_NOT_EXPRESSIBLE: {
    status: 403,
    text: "This path cannot be accessed by UFTP, please use the HTTP link of the share",
    meaning:
      "What is shared cannot be expressed as a daemon session; over HTTP, where this service stands between, it can be had.",
    remedy: "Use the share's `http` link.",
  },
  ERR_SERVER_DOWN: {
    status: 503,
    text: "{status}",
    headers: { "Retry-After": "10" },
    meaning: "None of the daemons of a logical server can take a session now.",
    remedy: "Try again later; the operator looks at the daemons of this server.",
  },
  ERR_SERVICE_STARTING: {
    status: 503,
    text: "The service is starting, please try again",
    headers: { "Retry-After": "1" },
    meaning: "No core is there to answer: it is starting, or being replaced.",
    remedy: "Try again in a second. If it stays so, the log says why the core does not start.",
  },
  ERR_SESSION_LIMIT_REACHED: {
    status: 429,
    text: "Too many open sessions on the transfer server, please try again later",
    headers: { "Retry-After": "5" },
    meaning:
      "The account has as many sessions as the daemons allow; slots of ended sessions are free after 5 s.",
    remedy: "Wait for other transfers to end, or raise the daemon's limit of sessions.",
  },
  ERR_SHARED_BY_ANOTHER: {
    status: 409,
    text:
      "Somebody else shares this path, or one around it, with the same people; only paths in your own home directory can be shared as well",
    meaning: "A share that would get between another owner's earlier share and the people it is for.",
    remedy:
      "Have the other owner share it, or their share ended: `authserver share list` shows the operator whose it is.",
  },
  ERR_SHARE_NOT_FOUND: {
    status: 404,
    text: "There is no such share, or it has ended",
    meaning: "No share of that id, or not any more; callers do not learn which.",
    remedy: "Ask the owner for a new share.",
  },
  ERR_SHARE_STORE: {
    status: 503,
    text: "Shares are not available at the moment, please try again later",
    headers: { "Retry-After": "30" },
    meaning: "The store cannot be read or written, say because the disk is full or the database is away.",
    remedy:
      "The log names the cause: mostly the disk of `persistence.directory` is full, or PostgreSQL cannot be reached.",
  },
  ERR_STORAGE_FULL: {
    status: 507,
    text: "The disk to which the file is written is full, or its owner's quota there is used",
    meaning: "The daemon could not write a file for lack of space, or beyond the disk quota of the account.",
    remedy: "Make room on the daemon's disk, or raise the quota of the account.",
  },
  ERR_STRONGER_LOGIN_NEEDED: {
    status: 403,
    text: "This server needs another login: {needed}",
    meaning:
      "The caller is known, and what they logged in with, when, or from where is not good enough for this server.",
    remedy:
      "Log in as the text says. What a server requires, its `methods`, `requiredAcr`, `maxAuthAge` and `networks` say.",
  },
  ERR_TARGET_TOO_LONG: {
    status: 414,
    text: "The request target is too long",
    headers: { Connection: "close" },
    meaning: "A request line longer than this server reads (RFC 9110, 15.5.15).",
    remedy: "Shorten the address; parameters belong into the body of the request.",
  },
  ERR_TOKENS_NOT_KEPT: {
    status: 501,
    text: "This service keeps no list of its tokens, each counts until it ends",
    meaning:
      "Without `persistence.directory` nothing of tokens is kept, so none can be listed or taken back.",
    remedy: "Set `persistence.directory`; tokens that are there already are listed when they are used next.",
  },
  ERR_TOKENS_UNAVAILABLE: {
    status: 503,
    text: "Tokens cannot be issued at the moment",
    headers: { "Retry-After": "60" },
    meaning: "The server's own certificate does not allow to issue tokens now.",
    remedy: "Configure a certificate, or renew the one that expired.",
  },
  ERR_TOKEN_LIFETIME: {
    status: 400,
    text:
      "The token lifetime must not exceed {longest} seconds, the operator can permit more with container.security.rest.jwt.maxLifetime",
    meaning: "The token lifetime asked for is more than is possible.",
    remedy: "Ask for less, or raise `container.security.rest.jwt.maxLifetime`.",
  },
  ERR_TOKEN_NEEDS_IDENTITY: {
    status: 401,
    text: "Authentication is required to get a token",
    meaning: "A caller without an identity asked for a token.",
    remedy: "Show credentials.",
  },
  ERR_TOKEN_NOT_RENEWABLE: {
    status: 403,
    text: "The token cannot be renewed",
    meaning: "A caller who showed a token asked for another one, which that token does not allow.",
    remedy: "Authenticate anew, or ask for a renewable token the first time.",
  },
  ERR_TOKEN_RESTRICTIONS: {
    status: 403,
    text: "Your token is good for less: {restrictions}",
    meaning:
      "What was asked for lies outside of what the token is narrowed to, or a token was to be made that is good for more.",
    remedy: "Ask for what the token is good for, or get another one with another login.",
  },
  ERR_TOKEN_SUBJECT: {
    status: 400,
    text: "subject: expected the distinguished name of a user",
    meaning:
      "An administrator asked for a token of somebody who is no user: no name, the anonymous or the server's own.",
    remedy: "Name the user as the attribute sources do.",
  },
  ERR_TOO_MANY_AT_ONCE: {
    status: 429,
    text: "Too many logins at once, please try again later",
    headers: { "Retry-After": "1" },
    meaning:
      "So many others are being checked that no turn came within some seconds. The caller's credentials were not looked at.",
    remedy: "Try again in a second, with fewer requests at once.",
  },
  ERR_TOO_MANY_FAILURES: {
    status: 429,
    text: "Too many failed attempts, please try again later",
    headers: { "Retry-After": "{seconds}" },
    meaning:
      "Not before some time. The caller's credentials were not looked at, and whether the user exists makes no difference.",
    remedy: "Wait as long as `Retry-After` says. Operators: see `container.security.throttling`.",
  },
  ERR_TOO_MANY_SESSIONS: {
    status: 503,
    text: "Too many transfers at once for this share, please try again in a few seconds",
    headers: { "Retry-After": "6" },
    meaning: "All sessions that the account may have at once are taken.",
    remedy: "Try again in some seconds.",
  },
  ERR_TOO_MANY_SHARES: {
    status: 403,
    text: "You have {most} shares on this server, and that is as many as there may be; please end some first",
    meaning: "A user makes a share beyond the limit; shares that exist can still be changed and ended.",
    remedy: "End shares that nobody needs, or raise `share.maxPerUser`.",
  },
  ERR_TOO_MANY_UPLOADS: {
    status: 429,
    text: "Too many uploads to this share are unfinished, please try again later",
    headers: { "Retry-After": "600" },
    meaning: "500 uploads to one share have begun and not ended; files that are whole do not count.",
    remedy: "Finish interrupted uploads, or wait until they are deleted, a day after their last byte.",
  },
  ERR_TOO_MUCH_WORK: {
    status: 503,
    text: "The service is busy, please try again later",
    headers: { "Retry-After": "5" },
    meaning: "More work waits than can be done in reasonable time.",
    remedy: "Try again; if it happens often, more is asked of this machine than it can do.",
  },
  ERR_TRANSFER_CODING: {
    status: 501,
    text: "This transfer coding is not supported",
    headers: { Connection: "close" },
    meaning: "A coding of the body other than `chunked` (RFC 9112, 6.1).",
    remedy: "Send the body with a length, or in chunks.",
  },
  ERR_UNAUTHENTICATED: {
    status: 401,
    text: "Authentication failed",
    headers: { "WWW-Authenticate": "{challenge}" },
    meaning:
      "The caller is nobody we know. One error for every cause (no credentials where some are needed, unknown user, wrong password, unreadable header), so that the response tells them apart for nobody; the log has the reasons.",
    remedy:
      "Check name and password, key or token. Operators: the log has the reason of each method, by the request's id.",
  },
  ERR_UNKNOWN_PREFERENCE: {
    status: 400,
    text: "Unknown user preference; known are uid, group, role and supplementaryGroups",
    meaning: "A preference for something there is no choice of.",
    remedy: "Leave that preference out.",
  },
  ERR_UNKNOWN_SERVER: {
    status: 404,
    text: "There is no such server",
    meaning: "No logical server of that name, or no instance of that number.",
    remedy: "Ask for one of the servers that `GET /rest/auth` lists.",
  },
  ERR_UNSUPPORTED_CODING: {
    status: 415,
    text: "The request body must come without content coding",
    headers: { "Accept-Encoding": "identity" },
    meaning: "The body is compressed, or coded in another way (RFC 9110, 8.4 and 15.5.16).",
    remedy: "Send the body as it is, without `Content-Encoding`; UFTP sessions can compress.",
  },
  ERR_UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    text: "The request body must be of type {expected}",
    meaning: "The body is of a type that the resource does not read (RFC 9110, 15.5.16).",
    remedy: "Send `Content-Type: application/json`.",
  },
  ERR_UPLOAD_INCOMPLETE: {
    status: 502,
    text: "The upload did not arrive completely",
    meaning:
      "The upload ended before all announced bytes were there, or the daemon kept fewer than were sent.",
    remedy: "Send the file again; check the quota of the owner of the share.",
  },
  ERR_UPLOAD_OFFSET: {
    status: 409,
    text: "There are {offset} bytes of this upload",
    headers: { "Upload-Offset": "{offset}" },
    meaning: "A piece of a file that does not go on where the last one ended.",
    remedy: "Go on from the byte in the text, which the header `Upload-Offset` has as well.",
  },
  ERR_USER_ATTRIBUTE: {
    status: 500,
    text: "Your settings for this server are not valid, please tell its operators",
    meaning:
      "A value an operator wrote for this user that cannot be used; guessing what it means could lift a limit.",
    remedy: "The log names the attribute. Correct it in the map file; `authserver check` finds such values.",
  },
} as const satisfies Record<`ERR_${Uppercase<string>}`, ErrorRow>;

/** Error code. */
export type ErrorCode = keyof typeof ERRORS;
