import { ATTACKS } from "./attacks.ts";
import { type Breakage, failingNowAndThen, instead } from "./breakage.ts";

const CLOCK_AND_DISKS: readonly Breakage[] = [
  {
    rows: ["the clock is set by an hour or a day"],
    broken: "delays and bans follow the system clock",
    file: "src/service/assembly/assemble.ts",
    change: instead("steady: steadyClock,", "steady: clock,"),
    tests: ["tests/faults/clock_test.ts"],
  },
  {
    rows: [
      "the disk of log and audit file is full",
      "the disk of log and audit file is read-only",
    ],
    broken: "an unwritable log file fails requests",
    file: "src/logging/log_file.ts",
    change: instead("return sink.failed(error, to, lines);", "sink.failed(error, to, lines); throw error;"),
    tests: ["tests/faults/disk_test.ts", "tests/logging/log_file_test.ts"],
  },
  {
    rows: ["the disk of required audit lines is full"],
    broken: "requests are served without required audit lines",
    file: "src/service/service.ts",
    change: instead("this.auditFailing && config.audit.required && route.audit", "false"),
    tests: ["tests/service/required_audit_test.ts", "tests/system/sinks_test.ts"],
  },
  {
    rows: ["the disk of the token registry is full", "the disk of the shares is full"],
    broken: "an unwritable database is not reported",
    file: "src/store/sqlite_database.ts",
    change: instead("if (isUnwritable(error)) this.sink?.failed(error, this.file);", ""),
    tests: ["tests/store/sqlite_database_test.ts", "tests/faults/disk_test.ts"],
  },
  {
    rows: ["the folder of the shares is moved or deleted while the service runs"],
    broken: "changes go to files that have been moved or deleted",
    file: "src/store/sqlite_database.ts",
    change: instead("this.#opened !== undefined && this.#opened !== identityOf(this.file)", "false"),
    tests: ["tests/store/sqlite_database_test.ts"],
  },
  {
    rows: ["the disk of the shares is full", "the disk of the shares is read-only at the start"],
    broken: "an unwritable share store is an internal error",
    file: "src/model/errors.ts",
    change: instead("ERR_SHARE_STORE: later(503,", "ERR_SHARE_STORE: later(500,"),
    tests: ["tests/faults/disk_test.ts", "tests/sharing/store"],
  },
  {
    rows: ["the disk of the token registry is full"],
    broken: "an unwritable record store has no error of its own",
    file: "src/store/database_record_store.ts",
    change: instead(
      'error instanceof DatabaseFailure ? httpError("ERR_RECORD_STORE", error.message, error) : error',
      "error",
    ),
    tests: ["tests/store", "tests/faults/disk_test.ts"],
  },
  {
    rows: ["the truststore is empty"],
    broken: "a truststore without certificates is accepted",
    file: "src/config/tls/truststore.ts",
    change: instead("anchors.size === 0 && !diagnostics.some(isError)", "false"),
    tests: ["tests/faults/certificates_test.ts", "tests/config/tls"],
  },
];

const PROVIDERS: readonly Breakage[] = [
  {
    rows: [
      "the provider never answers",
      "the provider sends its answer byte by byte",
      "the XUUDB never answers",
      "the XUUDB sends its answer byte by byte",
    ],
    broken: "answers have no time limit",
    file: "src/outgoing/https_client.ts",
    change: instead("const either = AbortSignal.any([signal, limit]);", "const either = signal;"),
    tests: ["tests/outgoing/https_client_test.ts"],
    only: "refuses answers of a server that sends nothing",
  },
  {
    rows: ["the provider sends an endless answer", "the XUUDB sends an endless answer"],
    broken: "answers have no length limit",
    file: "src/outgoing/https_client.ts",
    change: instead("if (length > MAX_BODY_BYTES)", "if (false)"),
    tests: ["tests/faults/provider_test.ts", "tests/outgoing/https_client_test.ts"],
  },
  {
    rows: [
      "the provider closes in the middle of its answer",
      "the provider closes the connection",
      "the XUUDB closes in the middle of its answer",
      "the XUUDB closes the connection",
    ],
    broken: "a broken connection to a provider is an internal error",
    file: "src/outgoing/https_client.ts",
    change: instead(
      "throw new RemoteUnavailable(url.host, reason, { cause: error, connected: stream?.opened ?? true });",
      "throw error;",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/outgoing/https_client_test.ts"],
  },
  {
    rows: ["the provider answers 500", "the provider answers 429", "the provider redirects"],
    broken: "a provider's answer is accepted with any status",
    file: "src/authentication/oauth/provider.ts",
    change: instead("if (status < 200 || status >= 300) throw", "if (status < 0) throw"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/oauth"],
  },
  {
    rows: ["the provider answers with an HTML page", "the provider answers with half a JSON object"],
    broken: "an unreadable answer of a provider is an internal error",
    file: "src/authentication/claims.ts",
    change: instead(
      'throw new InvalidReply("the reply is not JSON that can be read", { cause: error });',
      "throw error;",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/oauth"],
  },
  {
    rows: ["the provider omits the subject"],
    broken: "a missing value of the provider is an empty text",
    file: "src/authentication/expression/expression.ts",
    change: instead(
      "if (value === undefined) throw run.error(at, `no value is named ${name}`);",
      'if (value === undefined) return toValue("");',
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/expression"],
  },
  {
    rows: ["the provider returns a name with line breaks"],
    broken: "names may contain control characters",
    file: "src/authentication/check_identity.ts",
    change: instead(
      "if (reason !== undefined) throw",
      'if (reason !== undefined && reason !== "a control character") throw',
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/check_identity_test.ts"],
  },
  {
    rows: ["the provider sends an assertion with a foreign signature"],
    broken: "signers of assertions are not checked",
    file: "src/authentication/unity/unity.ts",
    change: instead(
      ".find((certificate) => certificate.raw.equals(der) && isValid(certificate, at));",
      ".concat([new X509Certificate(der)]).at(-1);",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion that expired an hour ago"],
    broken: "the expiry of an assertion is not checked",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (until !== undefined && now - tolerance >= parseInstant(until))", "if (false)"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion that answers another request"],
    broken: "a response to another request is accepted",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (inResponseTo !== undefined && inResponseTo !== requestId)", "if (false)"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion for another audience"],
    broken: "an assertion for another audience is accepted",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (!audiences.some(isOurs)) throw", "if (false) throw"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
];

const XUUDB: readonly Breakage[] = [
  {
    rows: ["the XUUDB answers 429", "the XUUDB answers 500", "the XUUDB redirects"],
    broken: "an answer of the XUUDB is accepted with any status",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead("if (status !== 200)", "if (false)"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers SOAP with a fault", "the XUUDB answers SOAP with a page"],
    broken: "an answer of the XUUDB without the expected element is treated as empty",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead('if (!found) throw new InvalidAnswer("the answer is no CheckDNResponse");', ""),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers SOAP with half a message"],
    broken: "malformed XML of the XUUDB is not reported as an invalid answer",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead(
      'if (error instanceof InvalidXml) throw new InvalidAnswer("the answer is not XML", { cause: error });',
      "if (error instanceof InvalidXml) return recordOf(() => undefined);",
    ),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers with an HTML page", "the XUUDB answers with half a JSON object"],
    broken: "an answer that is not JSON is treated as empty",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead('throw new InvalidAnswer("the answer is not JSON", { cause });', "return {};"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers with numbers instead of names"],
    broken: "a number in place of a text is ignored",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead("throw new InvalidAnswer(`${name} is no text`);", "return undefined;"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB returns an account with a line break"],
    broken: "account names are not checked",
    file: "src/model/account_name.ts",
    change: (text) => text.replace(/(export function isAccountName\([^)]*\): boolean \{)/, "$1 return true;"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes"],
  },
  {
    rows: ["the XUUDB returns the account root"],
    broken: "the account `root` is accepted from attribute sources",
    file: "src/attributes/server_attributes.ts",
    change: instead("if (isPrivilegedAccount(uid)) {", "if (false) {"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes"],
  },
  {
    rows: ["the XUUDB returns the role banned"],
    broken: "the role `banned` has no effect",
    file: "src/attributes/access_rules.ts",
    change: instead('if (role === "banned") return false;', ""),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/access_rules_test.ts"],
  },
];

const DAEMONS: readonly Breakage[] = [
  {
    rows: ["a daemon does not run", "the host of a daemon has no address"],
    broken: "an unreachable daemon is not answered with 503",
    file: "src/model/errors.ts",
    change: instead("ERR_DAEMON_UNAVAILABLE: later(503,", "ERR_DAEMON_UNAVAILABLE: later(500,"),
    tests: ["tests/faults/daemon_test.ts"],
  },
  {
    rows: ["a daemon closes at once", "a daemon resets at once", "a daemon speaks plain text"],
    broken: "no other daemon of a group is tried after a failure",
    file: "src/daemon/daemon_pool.ts",
    change: instead(
      "errors.push(this.#toError(outcome, candidate));",
      "throw this.#toError(outcome, candidate);",
    ),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/daemon_pool_test.ts"],
  },
  {
    rows: ["a daemon accepts no more connections"],
    broken: "connections to a daemon have no time limit",
    file: "src/daemon/command_connection.ts",
    change: instead('this.#limit(this.#limits.connect, "connect-timeout");', "clearTimeout(this.#timer);"),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon"],
  },
  {
    rows: ["a daemon never begins the handshake"],
    broken: "handshakes with a daemon have no time limit",
    file: "src/daemon/command_connection.ts",
    change: (text) =>
      text.replaceAll(
        'this.#limit(this.#limits.handshake, "handshake-timeout");',
        "clearTimeout(this.#timer);",
      ),
    tests: ["tests/daemon/daemon_pool_test.ts"],
    only: "openSession() alone: every fault",
  },
  {
    rows: ["a daemon reads the request and does not answer", "a daemon stops in the middle of its reply"],
    broken: "replies of a daemon have no time limit",
    file: "src/daemon/command_connection.ts",
    change: instead('this.#limit(this.#limits.reply, "reply-timeout");', "clearTimeout(this.#timer);"),
    tests: ["tests/daemon/daemon_pool_test.ts"],
    only: "openSession() alone: every fault",
  },
  {
    rows: [
      "a daemon presents a certificate of another authority",
      "a daemon presents an expired certificate",
      "a daemon presents a certificate that is not yet valid",
      "an impostor of a daemon presents",
    ],
    broken: "any certificate of a daemon is accepted",
    file: "src/daemon/command_connection.ts",
    change: (text) =>
      instead(
        "checkServerIdentity: () => undefined,",
        "checkServerIdentity: () => undefined, rejectUnauthorized: false,",
      )(
        instead(
          "if (diagnostic === undefined) this.#write();",
          "if (diagnostic === undefined || true) this.#write();",
        )(text),
      ),
    tests: [
      "tests/faults/certificates_test.ts",
      "tests/faults/daemon_test.ts",
      "tests/daemon/command_connection_test.ts",
    ],
  },
  {
    rows: [
      "a daemon does not have the service in its ACL",
      "a daemon does not trust the service's certificate",
      "a daemon closes without a reply",
    ],
    broken: "an invalid reply of a daemon is an internal error",
    file: "src/model/errors.ts",
    change: instead("ERR_DAEMON_REPLY_INVALID: { status: 502,", "ERR_DAEMON_REPLY_INVALID: { status: 500,"),
    tests: ["tests/faults/daemon_test.ts"],
  },
  {
    rows: ["a daemon sends half a reply", "a daemon does not end its reply"],
    broken: "text after a daemon's reply is accepted",
    file: "src/daemon/parse_reply.ts",
    change: instead("/^OK::([1-9]\\d{0,4})\\r?\\n$/", "/^OK::([1-9]\\d{0,4})/"),
    tests: ["tests/daemon/parse_reply_test.ts"],
  },
  {
    rows: ["a daemon names an invalid port"],
    broken: "port 0 is accepted",
    file: "src/daemon/parse_reply.ts",
    change: instead("/^OK::([1-9]\\d{0,4})\\r?\\n$/", "/^OK::(\\d{1,5})\\r?\\n$/"),
    tests: ["tests/daemon/parse_reply_test.ts"],
  },
  {
    rows: ["a daemon sends bytes that are not text"],
    broken: "replies with invalid UTF-8 are accepted",
    file: "src/daemon/command_connection.ts",
    change: instead("fatal: true", "fatal: false"),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/command_connection_test.ts"],
  },
  {
    rows: ["a daemon refuses the account"],
    broken: "the next daemon is tried after a refusal",
    file: "src/daemon/daemon_pool.ts",
    change: instead('if (reply.kind === "refused") throw error;', ""),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/daemon_pool_test.ts"],
  },
  {
    rows: ["a daemon has no free session"],
    broken: "a full account is treated as any other refusal",
    file: "src/daemon/parse_reply.ts",
    change: instead('if (/too many active/i.test(text)) return "limit";', ""),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/parse_reply_test.ts"],
  },
  {
    rows: ["a daemon resets the connection after its reply"],
    broken: "a daemon that failed is never tried again",
    file: "src/daemon/daemon_pool.ts",
    change: instead("if (!found) yield* ring.filter(({ daemon }) => daemon.mayTry());", ""),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/daemon_pool_test.ts"],
  },
];

const SHARED = "tests/faults/share_test.ts";
const DAEMONS_WITH_SHARES: readonly Breakage[] = [
  {
    rows: ["a daemon closes after the login"],
    broken: "the session is not checked after the login",
    file: "src/daemon/session/session_client.ts",
    change: instead('await control.expect(200, "NOOP")', "await Promise.resolve()"),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon closes at once", "a daemon does not end a reply"],
    broken: "the end of the connection ends a reply",
    file: "src/daemon/session/reply_reader.ts",
    change: instead(
      'if (count === null) throw this.#failed(new SessionEnded("Daemon ended the session instead of a reply"));',
      'if (count === null) return "226 ";',
    ),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: [
      "a daemon closes in the middle",
      "a daemon ends the data too early and reports success",
      "a daemon ends the data too early and reports failure",
    ],
    broken: "a truncated file ends like a complete one",
    file: "src/daemon/session/download_stream.ts",
    change: instead(
      'if (bytes < length) throw httpError("ERR_DAEMON_SESSION", `Daemon sent ${bytes} of ${length} bytes`);',
      "",
    ),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon does not know the account"],
    broken: "a refused login is treated as successful",
    file: "src/daemon/session/session_client.ts",
    change: instead('if (reply.code !== 230) throw refusal("PASS", reply);', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon has too many sessions"],
    broken: "too many sessions are treated as any other refusal",
    file: "src/daemon/session/session_client.ts",
    change: instead("if (reply.code === 500 && /already running|too many/i.test(reply.text))", "if (false)"),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon injects lines into a listing"],
    broken: "reply lines are not checked",
    file: "src/daemon/session/reply_reader.ts",
    change: instead('if (!line.startsWith(" ")) throw this.#broken("a line out of place in a reply");', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon names a data port that is closed"],
    broken: "a data port that refuses connections is an internal error",
    file: "src/model/errors.ts",
    change: instead(
      "ERR_LISTEN_SOCKET_UNREACHABLE: later(503,",
      "ERR_LISTEN_SOCKET_UNREACHABLE: later(500,",
    ),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon never answers a command", "a daemon never greets", "a daemon never sends a byte"],
    broken: "waits for a daemon have no time limit",
    file: "src/daemon/session/guarded_socket.ts",
    change: instead(
      "if (this.#closed || first === undefined || first.until >= this.#wakesAt) return;",
      "return;",
    ),
    tests: ["tests/daemon/session/daemon_session_test.ts"],
    only: "/no-greeting|hang|silent-data/",
  },
  {
    rows: ["a daemon never confirms the end"],
    broken: "the service does not wait for the daemon's confirmation",
    file: "src/daemon/session/download_stream.ts",
    change: instead("await confirm(); controller.close();", "controller.close();"),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon refuses the data connection"],
    broken: "any reply to `EPSV` is read as a port",
    file: "src/daemon/session/data_ports.ts",
    change: instead('if (!isPort(port)) throw refusal("EPSV", reply);', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon refuses to read the file"],
    broken: "a refused file is reported as a failure",
    file: "src/daemon/session/reply_reader.ts",
    change: instead("code === 534 || code === 550", "false"),
    tests: [SHARED, "tests/daemon/session"],
  },
];

const PROCESS: readonly Breakage[] = [
  {
    rows: ["the process is frozen for"],
    broken: "the watchdog counts silence while the supervisor itself was late",
    file: "src/workers/worker_thread.ts",
    change: instead("isAlive || late ? 0", "isAlive ? 0"),
    tests: ["tests/workers/worker_thread_test.ts", "tests/faults/process_test.ts"],
  },
  {
    rows: ["failed logins with more names"],
    broken: "a full table evicts delayed clients before others",
    file: "src/throttling/failure_table.ts",
    change: instead(
      "this.#watched.size > 0 ? this.#watched.keys() : this.#waiting.keys()",
      "this.#waiting.size > 0 ? this.#waiting.keys() : this.#watched.keys()",
    ),
    tests: ["tests/attack/full_table_test.ts", "tests/throttling"],
  },
  {
    rows: ["Reload storms and failing reloads", "concurrent reloads and file changes"],
    broken: "a replaced core ends with its requests under way",
    file: "src/workers/cores.ts",
    change: instead("if (before !== undefined) this.#draining.add(before);", "before?.end();"),
    tests: ["tests/system/worker_deaths_test.ts"],
    only: "a request in progress survives",
  },
  {
    rows: ["SIGTERM under load"],
    broken: "the core ends before requests under way are answered",
    file: "src/workers/supervisor.ts",
    change: instead(
      "await this.#edges.drain(); await this.#cores.finish();",
      "await this.#cores.finish();",
    ),
    tests: ["tests/system/process_test.ts", "tests/faults/process_test.ts"],
  },
  {
    rows: [
      "`kill -9` of the service under load",
      "`kill -9` while shares are created",
      "`kill -9` while shares are written",
    ],
    broken: "shares are kept in memory",
    file: "src/store/sqlite_database.ts",
    change: instead(
      "this.#database = new DatabaseSync(file,",
      'this.#database = new DatabaseSync(":memory:",',
    ),
    tests: ["tests/faults/process_test.ts", "tests/sharing/store/killed_writer_test.ts"],
  },
  {
    rows: ["`kill -9` after an operator's bans"],
    broken: "a single instance keeps its bans only in memory",
    file: "src/service/assembly/open_cluster.ts",
    change: instead(
      "if (database !== undefined || directory === undefined) return undefined;",
      "return undefined;",
    ),
    tests: ["tests/system/bans_over_restarts_test.ts"],
  },
  {
    rows: ["the disk of the password file is full", "the disk of the password file is read-only"],
    broken: "a password file is written in place",
    file: "src/model/edit_file.ts",
    change: instead(
      "await next.writeFile(text);",
      "await Deno.writeTextFile(target, text); await next.writeFile(text);",
    ),
    tests: ["tests/faults/disk_test.ts", "tests/model/edit_file_test.ts"],
  },
];

/** Parsers by the beginning of their row: file, function, and tests that are not among the fuzzers. */
const PARSERS: readonly (readonly [row: string, file: string, name: string, test: string])[] = [
  [
    "JSON_FORM.read() and SOAP_FORM.read() of an XUUDB",
    "attributes/xuudb/xuudb_source.ts",
    "readResponse",
    "replies",
  ],
  ["ReplyReader.read() of a daemon's session", "daemon/session/reply_reader.ts", "read", "replies"],
  ["absolutePath() and containedPath()", "resource/access/opened_share.ts", "containedPath", "requests"],
  ["accepts() and prefersHtml()", "service/http/acceptance.ts", "admits", "requests"],
  ["canonicalAddress()", "model/address.ts", "canonicalAddress", "requests"],
  ["certificatesOfPkcs12()", "config/tls/pkcs12_certificates.ts", "certificatesOfPkcs12", "configuration"],
  ["canonicalDn()", "model/distinguished_name.ts", "canonicalDn", "credentials"],
  ["compileExpression()", "authentication/expression/expression.ts", "compileExpression", "credentials"],
  ["decodePublicKey()", "authentication/ssh_key/public_key.ts", "decodePublicKey", "credentials"],
  ["encodeSession(), read again by the daemon's rules", "daemon/encode_command.ts", "encodeSession", ""],
  ["evaluateConditions()", "resource/access/validators.ts", "evaluateConditions", "requests"],
  ["matchesPattern()", "files/path_pattern.ts", "matchesPattern", "requests"],
  ["parseByteRange()", "resource/access/byte_range.ts", "parseByteRange", "requests"],
  ["parseConsignor()", "authentication/x509.ts", "parseConsignor", "credentials"],
  ["parseCredentials()", "authentication/parse_credentials.ts", "parseCredentials", "credentials"],
  ["parseEntry() of a daemon's listing", "daemon/session/entry.ts", "parseEntry", "replies"],
  ["parseJsonObject()", "model/json_object.ts", "parseJsonObject", "credentials"],
  ["parseKeyLine()", "authentication/ssh_key/authorized_keys.ts", "parseKeyLine", "credentials"],
  ["parseKeysFile()", "authentication/ssh_key/keys_file.ts", "parseKeysFile", "configuration"],
  ["parseName()", "model/distinguished_name.ts", "parseName", "credentials"],
  ["parsePasswordFile()", "authentication/password/password_table.ts", "parsePasswordFile", "configuration"],
  ["parsePattern()", "attributes/file/linear_pattern.ts", "parsePattern", "configuration"],
  [
    "parsePing(), parseSession() and parseUserInfo() of daemons",
    "daemon/parse_reply.ts",
    "parseUserInfo",
    "replies",
  ],
  ["parsePreferences()", "attributes/user_attributes.ts", "parsePreferences", "requests"],
  ["parseProperties()", "config/properties.ts", "parseProperties", "configuration"],
  ["parseRate()", "model/rate.ts", "parseRate", "configuration"],
  [
    "parseReply() of identity providers",
    "authentication/claims.ts",
    "parseReply",
    "credentials",
  ],
  ["parseServerAddress()", "resource/server_facts.ts", "parseServerAddress", "requests"],
  ["parseSessionRequest()", "resource/session_request.ts", "parseSessionRequest", "requests"],
  ["readShareDump()", "sharing/import/share_dump.ts", "readShareDump", "configuration"],
  ["parseShareFields()", "resource/share/share_fields.ts", "parseShareFields", "requests"],
  ["parseSignedToken()", "authentication/signed_token.ts", "parseSignedToken", "credentials"],
  ["readLegacyToken()", "authentication/ssh_key/key_trial.ts", "readLegacyToken", "credentials"],
  ["readMapEntry()", "attributes/file/map_file.ts", "readMapEntry", "configuration"],
  ["readMapFile() of", "attributes/file/map_file.ts", "readMapFile", "configuration"],
  ["readMembers() of JSON", "model/json_text.ts", "readMembers", "configuration"],
  ["readReservationFile()", "reservations/reservation_file.ts", "readReservationFile", "configuration"],
  ["readSamlResponse()", "authentication/unity/saml_response.ts", "readSamlResponse", "saml"],
];

const DATABASE: readonly Breakage[] = [
  {
    rows: ["instances are one version older than the tables"],
    broken: "an instance refuses newer tables that work with it",
    file: "src/store/postgres/postgres_schema.ts",
    change: instead("if (worksWith > known) {", "if (version > known) {"),
    tests: ["tests/faults/upgrade_test.ts"],
    only: "one with newer tables",
  },
  {
    rows: ["the tables are one version newer than an instance"],
    broken: "an instance accepts tables for which it is too old",
    file: "src/store/postgres/postgres_schema.ts",
    change: instead("if (worksWith > known) {", "if (false) {"),
    tests: ["tests/store/postgres/postgres_schema_test.ts"],
  },
  {
    rows: ["the database is down", "the database has no free connection", "the database is restarted"],
    broken: "an unreachable database is an internal error",
    file: "src/store/postgres/postgres_servers.ts",
    change: instead(
      'throw new DatabaseUnavailable([...reasons].join("; "), { cause: error });',
      'throw new Error([...reasons].join("; "), { cause: error });',
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "waits for a server that restarts",
  },
  {
    rows: ["the database is frozen (SIGSTOP)"],
    broken: "a timeout of the database is an internal error",
    file: "src/store/postgres/postgres_database.ts",
    change: instead(
      'late.abort(new DatabaseUnavailable("no answer in time"))',
      'late.abort(new Error("no answer in time"))',
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "leaves a server that no longer answers",
  },
  {
    rows: ["the database exceeds `persistence.statementTimeout`", "the database's disk is full"],
    broken: "a refusal by the database is an internal error",
    file: "src/store/postgres/postgres_failure.ts",
    change: instead(
      '=== "refused" ? DatabaseFailure : DatabaseUnavailable',
      '=== "refused" ? Error : DatabaseUnavailable',
    ),
    tests: ["tests/store/postgres/postgres_database_test.ts"],
    only: "commits all of a change or nothing",
  },
  {
    rows: ["the database has no free connection"],
    broken: "the circuit breaker never admits a trial after a failure",
    file: "src/model/circuit_breaker.ts",
    change: instead("this.#until = now + pauseOf(this.#pauseMs);", "this.#until = Infinity;"),
    tests: ["tests/model/circuit_breaker_test.ts", "tests/store/postgres/refused_connections_test.ts"],
  },
  {
    rows: ["the database is read-only"],
    broken: "a server that has become read-only stays in use",
    file: "src/store/postgres/postgres_watch.ts",
    change: instead(
      'this.parts.unusable?.(); this.#disconnect("the server takes no changes any more");',
      "",
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "leaves a server that becomes read-only",
  },
  {
    rows: [
      "a ban by command: from the answer",
      "a ban by the administration page: from the answer",
      "an unban by command: from the answer",
      "an unban by that page: from the answer",
      "a revoked token: from the answer",
    ],
    broken: "change notifications of other instances are ignored",
    file: "src/store/postgres/postgres_watch.ts",
    change: instead("this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1);", ""),
    tests: ["tests/store/postgres/postgres_database_test.ts"],
    only: "notices changes of other instances",
  },
  {
    rows: ["`authserver database import` into a database that waits for its disk"],
    broken: "an import fails at existing rows",
    file: "src/store/copy_rows.ts",
    change: instead(" ON CONFLICT DO NOTHING RETURNING", " RETURNING"),
    tests: ["tests/store/copy_rows_test.ts"],
    only: "copyRows() does not overwrite rows",
  },
  {
    rows: ["a million shares and a million tokens in PostgreSQL", "purging 200000 expired shares"],
    broken: "expired shares are found without an index",
    file: "src/store/postgres/tables/share_and_record.sql",
    change: instead("CREATE INDEX share_by_end ON share (expires) WHERE expires > 0;", ""),
    tests: ["tests/sharing/store/postgres_share_store_test.ts"],
    only: "queries for some shares",
  },
  {
    rows: ["database time of a request, with 1000000 shares", "commands of the operator on the same tables"],
    broken: "the uses of a share are found without an index",
    file: "src/store/postgres/tables/share_and_record.sql",
    change: instead("CREATE INDEX share_use_by_share ON share_use (server, id, key);", ""),
    tests: ["tests/sharing/store/postgres_share_store_test.ts"],
    only: "queries for some shares",
  },
  {
    rows: ["processor time of an idle instance"],
    broken: "statements that change nothing notify all instances",
    file: "src/store/postgres/tables/change_notification.sql",
    change: instead("IF EXISTS (SELECT FROM changed) THEN", "IF true THEN"),
    tests: ["tests/store/postgres/refused_connections_test.ts"],
    only: "a statement that changes no row",
  },
  {
    rows: ["the operator bans an address while the database is down"],
    broken: "instances that cannot receive a ban are not reported to the operator",
    file: "src/resource/admin/admin_api.ts",
    change: instead("stored === false || !alive", "false"),
    tests: ["tests/faults/database_test.ts"],
    only: "a ban that cannot reach other instances",
  },
  {
    rows: ["an instance has a different configuration"],
    broken: "instances with different configurations are not distinguished",
    file: "src/service/assembly/open_cluster.ts",
    change: instead(
      'return hash("sha256", common, "base64url")',
      'return hash("sha256", common && "", "base64url")',
    ),
    tests: ["tests/faults/database_test.ts"],
    only: "an instance with another configuration",
  },
  {
    rows: ["an instance is frozen (SIGSTOP)", "a removed share: from the answer"],
    broken: "a share that one instance removes stays in the database",
    file: "src/sharing/store/share_sql.ts",
    change: instead(
      "remove: `DELETE FROM share WHERE ${ALL_SERVERS} RETURNING *`",
      "remove: `SELECT * FROM share WHERE ${ALL_SERVERS}`",
    ),
    tests: ["tests/faults/database_test.ts"],
    only: "an instance that was frozen",
  },
  {
    rows: [
      "sessions a second at one UFTPD by three instances together",
    ],
    broken: "three instances open more connections to a daemon than it accepts",
    file: "src/daemon/queue.ts",
    change: instead("return ready && 2 * this.instances() <= MAX_CONNECTIONS ? 2 : 1;", "return 2;"),
    tests: ["tests/daemon/queue_test.ts"],
  },
  {
    rows: [
      "300 concurrent clients of one-time shares while an instance is killed, " +
      "the database is stopped, or both",
    ],
    broken: "uses of a share are not counted",
    file: "src/sharing/store/share_sql.ts",
    change: instead("SET uses_left = uses_left - 1,", "SET uses_left = uses_left,"),
    tests: ["tests/faults/database_test.ts"],
    only: "a one-time share",
  },
  {
    rows: ["an instance is killed"],
    broken: "an instance never counts as stopped",
    file: "src/instances/instance_register.ts",
    change: instead("alive: other.ageMs < silentMs,", "alive: true,"),
    tests: ["tests/instances/instance_register_test.ts"],
  },
  {
    rows: ["the database fails and a standby is promoted"],
    broken: "only the first of several database servers is tried",
    file: "src/store/postgres/postgres_servers.ts",
    change: instead("this.options.servers.map((server)", "this.options.servers.slice(0, 1).map((server)"),
    tests: ["tests/faults/database_test.ts"],
    only: "instances switch to the standby",
  },
  {
    rows: ["the clock of one instance is 5 hours ahead"],
    broken: "an instance uses the clock of its machine",
    file: "src/instances/shared_clock.ts",
    change: instead("return this.#asOf === undefined ?", "return true ?"),
    tests: ["tests/instances/shared_clock_test.ts"],
  },
];

/** Breakages of all promises in the documents. */
export const BREAKAGES: readonly Breakage[] = [
  ...ATTACKS,
  ...CLOCK_AND_DISKS,
  ...PROVIDERS,
  ...XUUDB,
  ...DAEMONS,
  ...DAEMONS_WITH_SHARES,
  ...PROCESS,
  ...DATABASE,
  ...PARSERS.map(([row, file, name, test]): Breakage => ({
    rows: row === PARSERS[0]?.[0]
      ? [row, "Malformed input"]
      : row.startsWith("accepts()")
      ? [row, "Acceptance"]
      : [row],
    broken: `${name}() fails for one text in a hundred with an error that it does not promise`,
    file: `src/${file}`,
    change: failingNowAndThen(name),
    only: row.startsWith("accepts()") ? "Acceptance" : row.slice(0, row.indexOf("(")),
    tests: [test === "" ? "tests/daemon/encode_command_test.ts" : `tests/fuzz/${test}_test.ts`],
  })),
];
