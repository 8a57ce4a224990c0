import type { ErrorCode } from "../../src/model/errors.ts";

/** What the manual says about an error code: what happened, and what to do. */
interface Explained {
  readonly meaning: string;
  readonly remedy: string;
}

/** Explanations of all error codes, in Markdown. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, Explained>> = {
  ERR_ACCESS_REFUSED: {
    meaning: "The Unix account lacks permission for this path.",
    remedy: "Check the owner and mode of the file on the daemon's host.",
  },
  ERR_ACCOUNT_REFUSED: {
    meaning: "The service never opens sessions for this account, whatever the attribute sources say.",
    remedy:
      "Map the user to another account. The service refuses `root`, `toor` and user id 0; daemons refuse every other account with user id 0.",
  },
  ERR_ATTRIBUTE_SOURCE: {
    meaning: "An attribute source failed. It might forbid what others allow, so the request fails.",
    remedy: "Repair the source that the log names, or set its `optional=true` to continue without it.",
  },
  ERR_AUDIT_UNAVAILABLE: {
    meaning: "Audit lines cannot be written, and `container.audit.required` is set. Nothing was done.",
    remedy: "`authserver status` names the cause: usually the disk of the audit file is full.",
  },
  ERR_AUTHENTICATION_UNAVAILABLE: {
    meaning: "An authenticator that might have accepted the caller failed, and no other one accepted.",
    remedy: "The log names the authenticator and the reason. Often an identity provider does not answer.",
  },
  ERR_BAD_FORWARDING: {
    meaning: "A configured gateway did not send one IP address in `X-UNICORE-Consignor-IP`.",
    remedy: "Check what the gateway or proxy writes into this header, and check `gateway.trustedPeers`.",
  },
  ERR_BAD_REQUEST: {
    meaning: "The client did not send a valid HTTP request.",
    remedy: "Check the client. It is broken or does not speak HTTPS.",
  },
  ERR_BODY_TOO_LARGE: {
    meaning: "The request body exceeds the limit for this resource.",
    remedy: "Send a smaller body. Transfer files with UFTP or through a share.",
  },
  ERR_CERTIFICATE_REFUSED: {
    meaning: "The service does not accept this OpenSSH certificate; the text gives the reason.",
    remedy:
      "Request a new certificate, or check `certificateAuthorities` and `revokedKeys`. `ssh-keygen -L -f id_ed25519-cert.pub` shows the certificate; `authserver whoami-test USER --certificate FILE` explains the decision.",
  },
  ERR_CLIENT_GONE: {
    meaning: "The client closed the connection before the end of its request. Nobody sees this answer.",
    remedy: "No action needed.",
  },
  ERR_CONTENT_CHANGED: {
    meaning: "A file or directory has changed since the page asked whether to delete it.",
    remedy: "Open the page again, check the content, and delete again.",
  },
  ERR_DAEMON_REFUSED: {
    meaning: "A daemon refused the request. Its message, which can name accounts, is only in the log.",
    remedy: "See the log. Often the daemon lacks the account, or the service's certificate in its ACL.",
  },
  ERR_DAEMON_REPLY_INVALID: {
    meaning: "A daemon accepted the request and sent an invalid reply.",
    remedy: "Check that `commandHost` and `commandPort` point to the command socket of a UFTPD.",
  },
  ERR_DAEMON_SESSION: {
    meaning: "The daemon refused a command, closed the session or sent something unexpected.",
    remedy: "Read the daemon's message in the log.",
  },
  ERR_DAEMON_SESSION_TIMEOUT: {
    meaning: "The daemon or the client sent nothing for too long.",
    remedy: "Check the load of the daemon and the network between the daemon and the service.",
  },
  ERR_DAEMON_TIMEOUT: {
    meaning: "A daemon accepted the request and did not answer in time.",
    remedy: "Check the daemon: it accepts connections but does not answer. If this persists, restart it.",
  },
  ERR_DAEMON_UNAVAILABLE: {
    meaning: "No daemon of the group accepted the request. The client can safely try again.",
    remedy: "Check the daemon, the network and both certificates; see [Troubleshooting](troubleshooting.md).",
  },
  ERR_DIGEST_MISMATCH: {
    meaning:
      "`Repr-Digest` or `OC-Checksum` differs from the daemon's checksum of what arrived. The old file stays, except where it was written in place.",
    remedy: "Send the file again.",
  },
  ERR_DRAINING: {
    meaning: "For health checks only: the service was stopped and waits for `container.drainSeconds`.",
    remedy: "No action needed: the load balancer sends clients to another instance.",
  },
  ERR_ENCRYPTION_NOT_SUPPORTED: {
    meaning: "The user asked for encrypted data connections (`-E`), and no daemon of the server can encrypt.",
    remedy: "Set a key length on a daemon of the server, or transfer without `-E`.",
  },
  ERR_EXISTS: {
    meaning: "A directory cannot be made where there is a file or directory (RFC 4918, 9.3.1).",
    remedy: "Choose another name.",
  },
  ERR_EXPECTATION_FAILED: {
    meaning: "The client sent an `Expect` header other than `100-continue` (RFC 9110, 10.1.1).",
    remedy: "Send `Expect: 100-continue`, or no `Expect` header.",
  },
  ERR_FORBIDDEN: {
    meaning: "The caller is authenticated but lacks the required role.",
    remedy: "Give the user the role `user` in an attribute source. The role `banned` forbids everything.",
  },
  ERR_FOREIGN_PAGE: {
    meaning: "The browser says (`Sec-Fetch-Site`, `Origin`) that another site sent this form.",
    remedy:
      "Use the pages of the service. Behind a proxy, set `container.externalurl` to the address that browsers use, and pass `Host` and `Origin` unchanged.",
  },
  ERR_GROUP_NOT_AVAILABLE: {
    meaning: "The user is not in the requested group.",
    remedy: "Ask for one of `availableGroups`, or add the group in an attribute source.",
  },
  ERR_HEADERS_TOO_LARGE: {
    meaning: "The request headers exceed the limit (RFC 6585, 5).",
    remedy: "Send fewer or shorter headers. Perhaps a token is too long.",
  },
  ERR_HEADER_TOO_LONG: {
    meaning: "One request header exceeds the limit (RFC 6585, 5).",
    remedy: "Shorten the header that the text names.",
  },
  ERR_HTTP_VERSION: {
    meaning: "The service does not support this version of HTTP.",
    remedy: "Use HTTP/1.1.",
  },
  ERR_INSTANCE_UNKNOWN: {
    meaning: "The server group has no daemon with this number.",
    remedy: "Ask for the server without a number, or for a configured daemon.",
  },
  ERR_INTERNAL: {
    meaning: "A defect in the service.",
    remedy: "Look up the request's id in the log and report what you find.",
  },
  ERR_INVALID_NAME: {
    meaning: "The text is not a distinguished name.",
    remedy: "Write the name as `CN=Ann Example, O=Site, C=DE`.",
  },
  ERR_INVALID_PATH: {
    meaning: "The service does not send this path to a daemon.",
    remedy: "Use an absolute path without `..` that names a file or directory.",
  },
  ERR_INVALID_PREFERENCES: {
    meaning: "The preferences header does not have the form `key:value[,key:value…]`.",
    remedy: "Write `X-UNICORE-User-Preferences` as `uid:ann,group:hpc`.",
  },
  ERR_INVALID_REQUEST: {
    meaning: "A field of the request is invalid. The text names the field and the expected value.",
    remedy: "Correct the field that the text names.",
  },
  ERR_INVALID_TOKEN_REQUEST: {
    meaning: "A query parameter of a token request is invalid.",
    remedy:
      "Use `lifetime=<seconds>`, `renewable=true`, `limited=true`, `path=/directory/`, `activity=read`, `server=<name>`, `address=<range>`, `name=<text>`.",
  },
  ERR_INVALID_VALUE: {
    meaning: "The value has characters that no daemon may get. It is neither sent nor shown nor logged.",
    remedy: "Remove such characters, for example line breaks, from the path, group or pattern.",
  },
  ERR_KEY_LOOKUP_FAILED: {
    meaning: "Not all daemons could be asked for the user's SSH keys: the key is neither right nor wrong.",
    remedy: "Repair the daemon that does not answer, or add the user's key to the keys file.",
  },
  ERR_LENGTH_REQUIRED: {
    meaning: "The share has a size limit, and the upload has no `Content-Length`.",
    remedy: "Upload a file instead of the output of a running program; `curl -T FILE` sends the length.",
  },
  ERR_LIMITS_FROM_HOME: {
    meaning: "The user's relative path limits apply only to sessions that start in the home directory.",
    remedy: "Begin the patterns with a slash, or start at home (empty `serverPath`).",
  },
  ERR_LINK_PASSWORD: {
    meaning: "The share has a password, and the caller sent no password or a wrong one.",
    remedy: "Send the password of the link: `curl -u :PASSWORD`, or enter it in the browser.",
  },
  ERR_LISTEN_SOCKET_UNREACHABLE: {
    meaning: "The service cannot connect to the daemon's listen socket.",
    remedy: "Check `host` of the server and the firewalls between the service and the daemon.",
  },
  ERR_LOCKED: {
    meaning:
      "Somebody has a lock on the file or directory, and the request does not show its token (RFC 4918, 11.3).",
    remedy: "Wait: a lock ends after an hour at the latest. The owner of the lock sends its token in `If`.",
  },
  ERR_LOGIN_BOUND: {
    meaning:
      "The token is bound to a key or certificate (RFC 9449, 7.2). A token of this service would not be bound.",
    remedy: "Send the bound token with each request, or log in another way to get a token of this service.",
  },
  ERR_LOGIN_NOT_DERIVABLE: {
    meaning: "The `derivedLifetime` of the authenticator has passed or is 0, or its `maxAuthAge` has passed.",
    remedy: "Log in again. The operator sets both.",
  },
  ERR_LOGIN_TOO_NARROW: {
    meaning: "Scopes restrict the caller's token. Creating tokens and shares requires an unrestricted login.",
    remedy: "Log in another way, or use a token without `capabilities`.",
  },
  ERR_METHOD_NOT_ALLOWED: {
    meaning: "The resource does not support this HTTP method, or the method is TRACE.",
    remedy: "The header `Allow` lists the supported methods.",
  },
  ERR_METHOD_UNKNOWN: {
    meaning: "The service does not implement this HTTP method (RFC 9110, 15.6.2).",
    remedy: "Use GET, HEAD, POST, PUT, DELETE or OPTIONS, and below `/dav/` the methods of WebDAV.",
  },
  ERR_NOT_ACCEPTABLE: {
    meaning: "The resource has no media type that the client accepts (RFC 9110, 15.5.7).",
    remedy: "Ask for one of the media types in the text.",
  },
  ERR_NOT_A_FILE: {
    meaning: "The target exists and is not a regular file, so an upload cannot replace it.",
    remedy: "Choose the name of a file, or a new name.",
  },
  ERR_NOT_EMPTY: {
    meaning:
      "A directory cannot be deleted because daemons do not list all of its entries. The entries that they list may be deleted already.",
    remedy: "Delete the directory with local commands, such as `rm -r`.",
  },
  ERR_NOT_FOUND: {
    meaning: "The resource does not exist, or the share hides it. The answer is the same in all cases.",
    remedy: "Check the path. For a share, ask its owner.",
  },
  ERR_NOT_PERMITTED: {
    meaning: "The caller is authenticated and may not do this.",
    remedy: "The text says what the caller may not do.",
  },
  ERR_NOT_READY: {
    meaning: "No server can open a session.",
    remedy: "Check the daemons: no daemon answers.",
  },
  ERR_NO_ACCOUNT: {
    meaning: "The service knows the user, but the user has no Unix account on this server.",
    remedy: "Give the user an `xlogin` in an attribute source, for all servers or for this server.",
  },
  ERR_NO_DIRECTORY: {
    meaning: "A file or directory cannot be made in a directory that does not exist.",
    remedy: "Make the directory first.",
  },
  ERR_NO_LOCK: {
    meaning:
      "`Lock-Token` names no lock on this file or directory: it has expired, or belongs to another user.",
    remedy: "No action needed, unless the token was misspelt.",
  },
  ERR_OTHER_FILE_SYSTEM: {
    meaning: "The daemon can rename only within one file system.",
    remedy: "Copy the file or directory, then delete the original.",
  },
  ERR_OTHER_SERVER: {
    meaning: "The service copies and moves within one transfer server only.",
    remedy: "Name a destination below the same `/dav/<server>/`, or copy with a UFTP client.",
  },
  ERR_OUTSIDE_CAPABILITIES: {
    meaning: "The session would start outside the token's directories, or no daemon could enforce them.",
    remedy: "Ask for a `serverPath` that `GET /rest/auth` lists under `capabilities`. See also the log.",
  },
  ERR_OUTSIDE_LIMITS: {
    meaning: "The user's path limits exclude everything in this directory.",
    remedy: "Compare the user's `includes` and `excludes` with the requested `serverPath`.",
  },
  ERR_OVERLAP: {
    meaning: "Nothing can be copied or moved onto itself, into itself, or in place of what contains it.",
    remedy: "Choose another destination.",
  },
  ERR_PAGE_OUTDATED: {
    meaning: "The form is from another browser session or before a sign-in; or the browser has no cookies.",
    remedy: "Reload the page. Allow cookies of the service.",
  },
  ERR_PERMISSIONS_CHANGED: {
    meaning:
      "The account or limits of the user or of the share's owner changed while the daemon opened the session.",
    remedy: "Try again: the next session has the new limits.",
  },
  ERR_PRECONDITION_FAILED: {
    meaning: "The file differs from the version that the request wants to replace, or exists already.",
    remedy: "Download the current file and decide again.",
  },
  ERR_PREFERENCE_NOT_ALLOWED: {
    meaning: "The requested value is not one of the caller's allowed values.",
    remedy: "Ask for one of the listed values.",
  },
  ERR_QUOTA_USED: {
    meaning: "The upload share has reached its limit of files or bytes. Unfinished uploads count.",
    remedy: "Ask the owner to raise the limit. Unfinished uploads stop counting after one day.",
  },
  ERR_RECORD_STORE: {
    meaning: "The service cannot read or write its store of tokens and certificates.",
    remedy:
      "The log names the cause: usually the disk of `persistence.directory` is full, or PostgreSQL is unreachable.",
  },
  ERR_REMOTE_UNAVAILABLE: {
    meaning:
      "Another system (identity provider, XUUDB, LDAP server) gave no usable answer. The credentials may be valid.",
    remedy: "The log names the system and the reason: certificate, host name or time-out.",
  },
  ERR_REQUEST_TIMEOUT: {
    meaning: "The service did not receive the complete request in time.",
    remedy: "Send the request again; the network may be slow.",
  },
  ERR_SCOPE_NOT_EXPRESSIBLE: {
    meaning: "A daemon cannot enforce the limits of this share in a session. Over HTTP the service does.",
    remedy: "Use the share's `http` link.",
  },
  ERR_SERVER_DOWN: {
    meaning: "No daemon of the server can take a session.",
    remedy: "Try again later. Operators: check the daemons of this server.",
  },
  ERR_SERVICE_STARTING: {
    meaning: "The core worker is starting or restarting.",
    remedy: "Try again in a second. If this persists, the log says why the core does not start.",
  },
  ERR_SESSION_LIMIT_REACHED: {
    meaning: "The account has all sessions that the daemons permit. A slot becomes free 5 s after its end.",
    remedy: "Wait for other transfers to end, or raise the session limit of the daemon.",
  },
  ERR_SHARED_BY_ANOTHER: {
    meaning: "The share would take precedence over another owner's earlier one for the same recipients.",
    remedy: "Ask the other owner, whom `authserver share list` shows to operators, to share or delete it.",
  },
  ERR_SHARE_NOT_FOUND: {
    meaning: "The share does not exist, or it has ended. The answer is the same in both cases.",
    remedy: "Ask the owner for a new share.",
  },
  ERR_SHARE_STORE: {
    meaning: "The service cannot read or write the share store.",
    remedy:
      "The log names the cause: usually the disk of `persistence.directory` is full, or PostgreSQL is unreachable.",
  },
  ERR_STORAGE_FULL: {
    meaning: "The daemon could not write a file for lack of space, or beyond the disk quota of the account.",
    remedy: "Make room on the daemon's disk, or raise the quota of the account.",
  },
  ERR_STRONGER_LOGIN_NEEDED: {
    meaning: "The server requires another authenticator, network, or a stronger or more recent login.",
    remedy: "Log in as the text says; see `methods`, `requiredAcr`, `maxAuthAge`, `networks` of the server.",
  },
  ERR_TARGET_TOO_LONG: {
    meaning: "The request line exceeds the limit (RFC 9110, 15.5.15).",
    remedy: "Shorten the URL; send parameters in the body.",
  },
  ERR_TOKENS_NOT_KEPT: {
    meaning: "Without storage (`persistence.directory` or PostgreSQL) the service keeps no list of tokens.",
    remedy:
      "Set `persistence.directory`, or use PostgreSQL. The list then shows existing tokens after their next use.",
  },
  ERR_TOKENS_UNAVAILABLE: {
    meaning: "The service cannot issue tokens because its own certificate is missing or has expired.",
    remedy: "Configure or renew the certificate of the service.",
  },
  ERR_TOKEN_LIFETIME: {
    meaning: "The requested token lifetime exceeds the limit.",
    remedy: "Ask for a shorter lifetime, or raise `container.security.rest.jwt.maxLifetime`.",
  },
  ERR_TOKEN_NEEDS_IDENTITY: {
    meaning: "An anonymous caller asked for a token.",
    remedy: "Send credentials.",
  },
  ERR_TOKEN_NOT_RENEWABLE: {
    meaning: "The caller used a token that is not renewable to ask for a new token.",
    remedy: "Log in again, or ask for a renewable token at the first login.",
  },
  ERR_TOKEN_RESTRICTIONS: {
    meaning: "The request exceeds the restrictions of the token, or asks for a token with fewer.",
    remedy: "Stay within the restrictions, or log in another way.",
  },
  ERR_TOKEN_SUBJECT: {
    meaning: "An administrator asked for a token for a name that is not a user's.",
    remedy: "Use the name that the attribute sources use.",
  },
  ERR_TOO_MANY_AT_ONCE: {
    meaning: "Too many logins waited for seconds. The credentials were not checked.",
    remedy: "Try again in a second, with fewer concurrent requests.",
  },
  ERR_TOO_MANY_CODES: {
    meaning: "Too many device logins are open, or came from this address, or wrong codes from this user.",
    remedy: "Wait as long as `Retry-After` says. An approved or denied login counts for ten minutes.",
  },
  ERR_TOO_MANY_FAILURES: {
    meaning: "Login throttling delays this user or address, known or not. Credentials were not checked.",
    remedy: "Wait as long as `Retry-After` says. Operators: see `container.security.throttling`.",
  },
  ERR_TOO_MANY_LOCKS: {
    meaning: "A user can have a limited number of WebDAV locks at a time.",
    remedy: "Close documents that are open, or wait: a lock ends after an hour at the latest.",
  },
  ERR_TOO_MANY_SESSIONS: {
    meaning: "All sessions for this account are in use.",
    remedy: "Try again in a few seconds.",
  },
  ERR_TOO_MANY_SHARES: {
    meaning:
      "The user has reached the limit of shares. The user can still change and delete existing shares.",
    remedy: "Delete unused shares, or raise `share.maxPerUser`.",
  },
  ERR_TOO_MANY_UPLOADS: {
    meaning:
      "The share, or the account at this server, has 500 unfinished uploads, or this client has as many as others may still begin. Complete files do not count.",
    remedy: "Finish interrupted uploads. Unfinished ones are deleted one day after their last byte.",
  },
  ERR_TOO_MUCH_WORK: {
    meaning: "The queue of the service is full.",
    remedy: "Try again. If this happens often, the machine is too small for the load.",
  },
  ERR_TRANSFER_CODING: {
    meaning: "The body uses a transfer coding other than `chunked` (RFC 9112, 6.1).",
    remedy: "Send the body with a length, or chunked.",
  },
  ERR_TREE_TOO_LARGE: {
    meaning:
      "One request copies or deletes at most 100,000 entries in 64 levels. A part may be copied or deleted.",
    remedy: "Copy or delete its subdirectories one by one, or use a UFTP session.",
  },
  ERR_UNAUTHENTICATED: {
    meaning:
      "Authentication failed: missing or wrong credentials, an unknown user, or an invalid header. The answer is the same in all cases; the log has the reason.",
    remedy: "Check name and password, key or token. Operators: the log has each authenticator's reason.",
  },
  ERR_UNKNOWN_PREFERENCE: {
    meaning: "The caller sent an unsupported preference.",
    remedy: "Remove this preference.",
  },
  ERR_UNKNOWN_SERVER: {
    meaning: "No server or daemon has this name or number.",
    remedy: "Ask for one of the servers that `GET /rest/auth` lists.",
  },
  ERR_UNSUPPORTED_CODING: {
    meaning: "The body is compressed or otherwise encoded (RFC 9110, 8.4 and 15.5.16).",
    remedy: "Send the body without `Content-Encoding`. UFTP sessions can compress.",
  },
  ERR_UNSUPPORTED_MEDIA_TYPE: {
    meaning: "The resource does not read this media type (RFC 9110, 15.5.16).",
    remedy: "Send `Content-Type: application/json`.",
  },
  ERR_UPLOAD_INCOMPLETE: {
    meaning: "The upload ended early, or the daemon stored fewer bytes than it received.",
    remedy: "Send the file again. Check the quota of the share's owner.",
  },
  ERR_UPLOAD_OFFSET: {
    meaning: "The piece does not start where the previous piece ended.",
    remedy: "Continue from the byte that the text and the header `Upload-Offset` name.",
  },
  ERR_USER_ATTRIBUTE: {
    meaning: "An attribute source has an invalid value for this user. A guess could lift a limit.",
    remedy:
      "The log names the source or the attribute. Correct the user's entry; `authserver check` finds such values in map files.",
  },
};
