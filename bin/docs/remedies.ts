/** What to do about each error code; the rest of the table comes from the classes. */
export const REMEDIES: Readonly<Record<string, string>> = {
  ERR_ACCESS_REFUSED: "Check owner and mode of the file on the daemon's host.",
  ERR_ACCOUNT_REFUSED:
    "Give the user another account in the map file: `root`, `toor` and the number 0 are never used; daemons refuse all others with user id 0.",
  ERR_ATTRIBUTE_SOURCE:
    "The log names the source. Repair it, or set its `optional=true` if the service may go on without it.",
  ERR_AUTHENTICATION_UNAVAILABLE:
    "The log names the method and the reason, often an identity provider that does not answer.",
  ERR_BAD_FORWARDING:
    "Compare what the gateway sends in `X-UNICORE-…` with the log; check `gateway.trustedPeers`.",
  ERR_BAD_REQUEST: "Something other than HTTPS, or a broken client, speaks to the port.",
  ERR_BODY_TOO_LARGE: "Send less: requests are small JSON texts. Files go by UFTP or into shares.",
  ERR_CLIENT_GONE: "None; the client went away.",
  ERR_ENCRYPTION_NOT_SUPPORTED:
    "The user asked for encrypted data connections (`-E`), and no daemon of the server has a key length set.",
  ERR_DAEMON_REFUSED:
    "The log has the daemon's words: often an account that its host does not know, or a certificate missing in its ACL.",
  ERR_DAEMON_REPLY_INVALID:
    "Check that `commandHost` and `commandPort` lead to the command socket of a UFTPD.",
  ERR_DAEMON_SESSION: "The log has the daemon's words.",
  ERR_DAEMON_SESSION_TIMEOUT: "Look at the daemon's load, and at the network between it and the service.",
  ERR_DAEMON_TIMEOUT:
    "Look at the daemon: it accepts connections and does not answer. Restart it if it stays so.",
  ERR_DAEMON_UNAVAILABLE:
    "Check that the daemon runs and can be reached, and both sides' certificates; see [Troubleshooting](troubleshooting.md).",
  ERR_EXPECTATION_FAILED: "Send no `Expect` header, or `100-continue`.",
  ERR_FORBIDDEN: "Give the user the role `user` in an attribute source; `banned` is refused everything.",
  ERR_GROUP_NOT_AVAILABLE: "Ask for one of `availableGroups`, or add the group in an attribute source.",
  ERR_HEADER_TOO_LONG: "The text names the header; send a shorter one.",
  ERR_METHOD_UNKNOWN: "Use one of GET, HEAD, POST, PUT, DELETE, OPTIONS; the service is no proxy.",
  ERR_TARGET_TOO_LONG: "Shorten the address; parameters belong into the body of the request.",
  ERR_HEADERS_TOO_LARGE: "Send fewer or shorter header fields; a token may be too long.",
  ERR_HTTP_VERSION: "Use HTTP/1.1.",
  ERR_INSTANCE_UNKNOWN: "Ask for the server without number, or for an instance that is configured.",
  ERR_INTERNAL: "Look up the request's id in the log, and report what you find there.",
  ERR_INVALID_NAME: "Write a name as `CN=Ann Example, O=Site, C=DE`.",
  ERR_INVALID_ORDER:
    "A path, group or pattern has characters that cannot be sent to a daemon, such as a line end; change it.",
  ERR_INVALID_PATH: "Use an absolute path without `..` that names a file or directory.",
  ERR_INVALID_PREFERENCES: "Write `X-UNICORE-User-Preferences` as `uid:ann,group:hpc`.",
  ERR_INVALID_REQUEST: "The text names the member and what was expected.",
  ERR_INVALID_TOKEN_REQUEST: "Use `lifetime=<seconds>`, `renewable=true`, `limited=true`.",
  ERR_KEY_LOOKUP_FAILED: "Repair the daemon that does not answer, or put the user's key into the keys file.",
  ERR_LIMITS_FROM_HOME:
    "Write the patterns of `includes` and `excludes` with a leading slash; or the user starts in the home directory (empty `serverPath`).",
  ERR_OUTSIDE_LIMITS:
    "Compare `includes` and `excludes` of the user with the `serverPath` that was asked for.",
  ERR_LISTEN_SOCKET_UNREACHABLE:
    "Check `host` of the server, and firewalls between this service and the daemon.",
  ERR_METHOD_NOT_ALLOWED: "The header `Allow` lists the methods of the resource.",
  ERR_NOT_ACCEPTABLE: "Ask for one of the media types in the text.",
  ERR_NOT_A_FILE: "Choose the name of a file, or of none yet.",
  ERR_NOT_FOUND: "Check the path; for shares, ask the owner.",
  ERR_NOT_PERMITTED: "The text says what is not allowed.",
  ERR_NOT_READY: "Look at the daemons: none of any server answers.",
  ERR_NO_ACCOUNT: "Give the user an `xlogin` in an attribute source, for all servers or for this one.",
  ERR_PRECONDITION_FAILED: "Get the file as it is now, and decide again.",
  ERR_PREFERENCE_NOT_ALLOWED: "Ask for one of the values the list shows.",
  ERR_REMOTE_UNAVAILABLE: "The log names the system and the reason: certificate, name, time-out.",
  ERR_REQUEST_TIMEOUT: "Send the request again; the network may be slow.",
  ERR_SCOPE_NOT_EXPRESSIBLE: "Use the share's `http` link.",
  ERR_SERVER_DOWN: "Try again later; the operator looks at the daemons of this server.",
  ERR_SERVICE_STARTING: "Try again in a second. If it stays so, the log says why the core does not start.",
  ERR_SESSION_LIMIT_REACHED: "Wait for other transfers to end, or raise the daemon's limit of sessions.",
  ERR_SHARED_BY_ANOTHER:
    "Have the other owner share it, or their share ended: `authserver share list` shows the operator whose it is.",
  ERR_SHARE_NOT_FOUND: "Ask the owner for a new share.",
  ERR_SHARE_STORE: "The log names the cause: mostly the disk of `persistence.directory` is full. Make room.",
  ERR_TOKENS_UNAVAILABLE: "Configure a certificate, or renew the one that expired.",
  ERR_TOKEN_LIFETIME: "Ask for less, or raise `container.security.rest.jwt.maxLifetime`.",
  ERR_TOKEN_NEEDS_IDENTITY: "Show credentials.",
  ERR_TOKEN_NOT_RENEWABLE: "Authenticate anew, or ask for a renewable token the first time.",
  ERR_TOO_MANY_AT_ONCE: "Try again in a second, with fewer requests at once.",
  ERR_TOO_MANY_FAILURES:
    "Wait as long as `Retry-After` says. Operators: see `container.security.regulation`.",
  ERR_TOO_MANY_SESSIONS: "Try again in some seconds.",
  ERR_TOO_MUCH_WORK: "Try again; if it happens often, more is asked of this machine than it can do.",
  ERR_TRANSFER_CODING: "Send the body with a length, or in chunks.",
  ERR_UNAUTHENTICATED:
    "Check name and password, key or token. Operators: the log has the reason of each method, by the request's id.",
  ERR_UNKNOWN_PREFERENCE: "Leave that preference out.",
  ERR_UNKNOWN_SERVER: "Ask for one of the servers that `GET /rest/auth` lists.",
  ERR_UNSUPPORTED_MEDIA_TYPE: "Send `Content-Type: application/json`.",
  ERR_UPLOAD_INCOMPLETE: "Send the file again; check the quota of the owner of the share.",
  ERR_USER_ATTRIBUTE:
    "The log names the attribute. Correct it in the map file; `authserver check` finds such values.",
};
