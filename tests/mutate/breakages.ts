import { ATTACKS } from "./attacks.ts";
import { type Breakage, failingNowAndThen, instead } from "./breakage.ts";

const CLOCK_AND_DISKS: readonly Breakage[] = [
  {
    rows: ["the clock is set by an hour or a day"],
    broken: "waits and bans go by the clock of the machine",
    file: "src/service/assembly/assemble.ts",
    change: instead("steady: steadyClock,", "steady: clock,"),
    tests: ["tests/faults/clock_test.ts"],
  },
  {
    rows: [
      "the disk of log and audit file is full",
      "the disk of log and audit file is read-only",
    ],
    broken: "a log file that cannot be written fails the request",
    file: "src/logging/log_file.ts",
    change: instead("return sink.failed(error, to, lines);", "sink.failed(error, to, lines); throw error;"),
    tests: ["tests/faults/disk_test.ts", "tests/logging/log_file_test.ts"],
  },
  {
    rows: ["the disk of required audit lines is full"],
    broken: "requests are served without the audit lines that they need",
    file: "src/service/service.ts",
    change: instead("this.auditFails && config.audit.required && route.audit", "false"),
    tests: ["tests/service/required_audit_test.ts", "tests/system/sinks_test.ts"],
  },
  {
    rows: ["the disk of the token registry is full", "the disk of the shares is full"],
    broken: "nobody learns of a database that cannot be written",
    file: "src/store/sqlite_database.ts",
    change: instead("if (isUnwritable(error)) this.sink?.failed(error, this.file);", ""),
    tests: ["tests/store/sqlite_database_test.ts", "tests/faults/disk_test.ts"],
  },
  {
    rows: ["the folder of the shares is moved or deleted while the service runs"],
    broken: "changes go to files that nobody finds later",
    file: "src/store/sqlite_database.ts",
    change: instead("this.#opened !== undefined && this.#opened !== identityOf(this.file)", "false"),
    tests: ["tests/store/sqlite_database_test.ts"],
  },
  {
    rows: ["the disk of the shares is full", "the disk of the shares is read-only at the start"],
    broken: "a store that cannot be written is no error of its own",
    file: "src/model/errors.ts",
    change: instead("ERR_SHARE_STORE: { status: 503,", "ERR_SHARE_STORE: { status: 500,"),
    tests: ["tests/faults/disk_test.ts", "tests/sharing/store"],
  },
  {
    rows: ["the disk of the token registry is full"],
    broken: "a list of tokens that cannot be written is told from no other failure",
    file: "src/store/database_record_store.ts",
    change: instead(
      'error instanceof DatabaseFailure ? httpError("ERR_RECORD_STORE", error.message, error) : error',
      "error",
    ),
    tests: ["tests/store", "tests/faults/disk_test.ts"],
  },
  {
    rows: ["the truststore is empty"],
    broken: "a truststore without certificates is taken",
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
    broken: "there is no limit of time for an answer",
    file: "src/outgoing/https_client.ts",
    change: instead("const either = AbortSignal.any([signal, limit]);", "const either = signal;"),
    tests: ["tests/outgoing/https_client_test.ts"],
    only: "does not believe a server that says nothing",
  },
  {
    rows: ["the provider sends an endless answer", "the XUUDB sends an endless answer"],
    broken: "there is no limit for the length of an answer",
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
    broken: "a broken connection to a provider is not told apart from an error of ours",
    file: "src/outgoing/https_client.ts",
    change: instead(
      "throw new RemoteUnavailable(url.host, reason, { cause: error, connected: stream?.opened ?? true });",
      "throw error;",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/outgoing/https_client_test.ts"],
  },
  {
    rows: ["the provider answers 500", "the provider answers 429", "the provider redirects"],
    broken: "whatever status comes with an answer",
    file: "src/authentication/oauth/provider.ts",
    change: instead("if (status < 200 || status >= 300) throw", "if (status < 0) throw"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/oauth"],
  },
  {
    rows: ["the provider answers with an HTML page", "the provider answers with half a JSON object"],
    broken: "what cannot be read of a provider fails otherwise",
    file: "src/authentication/claims.ts",
    change: instead(
      'throw new InvalidReply("the reply is not JSON that can be read", { cause: error });',
      "throw error;",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/oauth"],
  },
  {
    rows: ["the provider omits the subject"],
    broken: "a value that the provider left out is an empty text",
    file: "src/authentication/expression/expression.ts",
    change: instead(
      "if (value === undefined) throw run.error(at, `no value is named ${name}`);",
      'if (value === undefined) return toValue("");',
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/expression"],
  },
  {
    rows: ["the provider returns a name with line breaks"],
    broken: "names may have control characters",
    file: "src/authentication/check_identity.ts",
    change: instead(
      "if (reason !== undefined) throw",
      'if (reason !== undefined && reason !== "a control character") throw',
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/check_identity_test.ts"],
  },
  {
    rows: ["the provider sends an assertion with a foreign signature"],
    broken: "whoever signed an assertion is trusted",
    file: "src/authentication/unity/unity.ts",
    change: instead(
      ".find((certificate) => certificate.raw.equals(shown) && isValid(certificate, at));",
      ".concat([new X509Certificate(shown)]).at(-1);",
    ),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion that expired an hour ago"],
    broken: "the end of an assertion is not looked at",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (until !== undefined && now - tolerance >= parseInstant(until))", "if (false)"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion that answers another request"],
    broken: "a response to another request is taken",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (inResponseTo !== undefined && inResponseTo !== requestId)", "if (false)"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
  {
    rows: ["the provider sends an assertion for another audience"],
    broken: "an assertion for another audience is taken",
    file: "src/authentication/unity/saml_response.ts",
    change: instead("if (!audiences.some(isOurs)) throw", "if (false) throw"),
    tests: ["tests/faults/provider_test.ts", "tests/authentication/unity"],
  },
];

const XUUDB: readonly Breakage[] = [
  {
    rows: ["the XUUDB answers 429", "the XUUDB answers 500", "the XUUDB redirects"],
    broken: "whatever status comes with an answer of the XUUDB counts",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead("if (status !== 200)", "if (false)"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers SOAP with a fault", "the XUUDB answers SOAP with a page"],
    broken: "an answer of the XUUDB without the expected element is empty",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead('if (!found) throw new InvalidAnswer("the answer is no CheckDNResponse");', ""),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers SOAP with half a message"],
    broken: "broken XML of the XUUDB fails otherwise",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead(
      'if (error instanceof InvalidXml) throw new InvalidAnswer("the answer is not XML", { cause: error });',
      "if (error instanceof InvalidXml) return recordOf(() => undefined);",
    ),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers with an HTML page", "the XUUDB answers with half a JSON object"],
    broken: "what is not JSON is an empty answer",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead('throw new InvalidAnswer("the answer is not JSON", { cause });', "return {};"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB answers with numbers instead of names"],
    broken: "a number is taken for no name",
    file: "src/attributes/xuudb/xuudb_source.ts",
    change: instead("throw new InvalidAnswer(`${name} is no text`);", "return undefined;"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/xuudb"],
  },
  {
    rows: ["the XUUDB returns an account with a line break"],
    broken: "accounts are not checked",
    file: "src/model/account_name.ts",
    change: (text) => text.replace(/(export function isAccountName\([^)]*\): boolean \{)/, "$1 return true;"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes"],
  },
  {
    rows: ["the XUUDB returns the account root"],
    broken: "the account `root` is taken from attribute sources",
    file: "src/attributes/server_attributes.ts",
    change: instead("if (isPrivilegedAccount(uid)) {", "if (false) {"),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes"],
  },
  {
    rows: ["the XUUDB returns the role banned"],
    broken: "the role `banned` means nothing",
    file: "src/attributes/access_rules.ts",
    change: instead('if (role === "banned") return false;', ""),
    tests: ["tests/faults/xuudb_test.ts", "tests/attributes/access_rules_test.ts"],
  },
];

const DAEMONS: readonly Breakage[] = [
  {
    rows: ["a daemon does not run", "the host of a daemon has no address"],
    broken: "a daemon that cannot be reached is not told by 503",
    file: "src/model/errors.ts",
    change: instead("ERR_DAEMON_UNAVAILABLE: { status: 503,", "ERR_DAEMON_UNAVAILABLE: { status: 500,"),
    tests: ["tests/faults/daemon_test.ts"],
  },
  {
    rows: ["a daemon closes at once", "a daemon resets at once", "a daemon speaks plain text"],
    broken: "in a group no other daemon is asked after one that failed",
    file: "src/daemon/daemon_pool.ts",
    change: instead(
      "errors.push(this.#toError(outcome, candidate));",
      "throw this.#toError(outcome, candidate);",
    ),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/daemon_pool_test.ts"],
  },
  {
    rows: ["a daemon accepts no more connections"],
    broken: "there is no limit of time for a connection to a daemon",
    file: "src/daemon/command_connection.ts",
    change: instead('this.#limit(this.#limits.connect, "connect-timeout");', "clearTimeout(this.#timer);"),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon"],
  },
  {
    rows: ["a daemon never begins the handshake"],
    broken: "there is no limit of time for a handshake with a daemon",
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
    broken: "there is no limit of time for a daemon's reply",
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
    broken: "whatever certificate a daemon shows",
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
    broken: "a reply that did not come passes for one that is not there yet",
    file: "src/model/errors.ts",
    change: instead("ERR_DAEMON_REPLY_INVALID: { status: 502,", "ERR_DAEMON_REPLY_INVALID: { status: 500,"),
    tests: ["tests/faults/daemon_test.ts"],
  },
  {
    rows: ["a daemon sends half a reply", "a daemon does not end its reply"],
    broken: "a reply need not end with its line",
    file: "src/daemon/parse_reply.ts",
    change: instead("/^OK::([1-9]\\d{0,4})\\r?\\n$/", "/^OK::([1-9]\\d{0,4})/"),
    tests: ["tests/daemon/parse_reply_test.ts"],
  },
  {
    rows: ["a daemon names an invalid port"],
    broken: "port 0 is a port",
    file: "src/daemon/parse_reply.ts",
    change: instead("/^OK::([1-9]\\d{0,4})\\r?\\n$/", "/^OK::(\\d{1,5})\\r?\\n$/"),
    tests: ["tests/daemon/parse_reply_test.ts"],
  },
  {
    rows: ["a daemon sends bytes that are not text"],
    broken: "a reply need not be UTF-8",
    file: "src/daemon/command_connection.ts",
    change: instead("fatal: true", "fatal: false"),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/command_connection_test.ts"],
  },
  {
    rows: ["a daemon refuses the account"],
    broken: "after a refusal the next daemon is asked",
    file: "src/daemon/daemon_pool.ts",
    change: instead('if (reply.kind === "refused") throw error;', ""),
    tests: ["tests/faults/daemon_test.ts", "tests/daemon/daemon_pool_test.ts"],
  },
  {
    rows: ["a daemon has no free session"],
    broken: "a full account is a refusal like any other",
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
    broken: "nobody looks whether the session lives after the login",
    file: "src/daemon/session/session_client.ts",
    change: instead("await checkAlive(control);", ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon closes at once", "a daemon does not end a reply"],
    broken: "the end of the connection is the end of a reply",
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
    broken: "a file that was cut off ends as if it were whole",
    file: "src/daemon/session/download_stream.ts",
    change: instead(
      'if (bytes < length) throw httpError("ERR_DAEMON_SESSION", `Daemon sent ${bytes} of ${length} bytes`);',
      "",
    ),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon does not know the account"],
    broken: "a refused login is a login",
    file: "src/daemon/session/session_client.ts",
    change: instead('if (reply.code !== 230) throw refusal("PASS", reply);', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon has too many sessions"],
    broken: "too many sessions are a refusal like any other",
    file: "src/daemon/session/session_client.ts",
    change: instead("if (reply.code === 500 && /already running|too many/i.test(reply.text))", "if (false)"),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon injects lines into a listing"],
    broken: "lines in a reply may be anything",
    file: "src/daemon/session/reply_reader.ts",
    change: instead('if (!line.startsWith(" ")) throw this.#broken("a line out of place in a reply");', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon names a data port that is closed"],
    broken: "a data port on which nobody listens is an error of ours",
    file: "src/model/errors.ts",
    change: instead(
      "ERR_LISTEN_SOCKET_UNREACHABLE: { status: 503,",
      "ERR_LISTEN_SOCKET_UNREACHABLE: { status: 500,",
    ),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon never answers a command", "a daemon never greets", "a daemon never sends a byte"],
    broken: "nothing ends a wait for a daemon",
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
    broken: "the daemon's word that it is done is not waited for",
    file: "src/daemon/session/download_stream.ts",
    change: instead("await confirm(); controller.close();", "controller.close();"),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon refuses the data connection"],
    broken: "any reply to `EPSV` names a port",
    file: "src/daemon/session/data_ports.ts",
    change: instead('if (!isPort(port)) throw refusal("EPSV", reply);', ""),
    tests: [SHARED, "tests/daemon/session"],
  },
  {
    rows: ["a daemon refuses to read the file"],
    broken: "whom the daemon refuses a file is told that it failed",
    file: "src/daemon/session/reply_reader.ts",
    change: instead("code === 534 || code === 550", "false"),
    tests: [SHARED, "tests/daemon/session"],
  },
];

const PROCESS: readonly Breakage[] = [
  {
    rows: ["the process is frozen for"],
    broken: "silence counts also while we ourselves were late",
    file: "src/workers/worker_thread.ts",
    change: instead("isAlive || late ? 0", "isAlive ? 0"),
    tests: ["tests/workers/worker_thread_test.ts", "tests/faults/process_test.ts"],
  },
  {
    rows: ["failed logins with more names"],
    broken: "a full table gives up who has to wait before who need not",
    file: "src/throttling/failure_table.ts",
    change: instead(
      "this.#watched.size > 0 ? this.#watched.keys() : this.#waiting.keys()",
      "this.#waiting.size > 0 ? this.#waiting.keys() : this.#watched.keys()",
    ),
    tests: ["tests/attack/full_table_test.ts", "tests/throttling"],
  },
  {
    rows: ["Reload storms and failing reloads", "concurrent reloads and file changes"],
    broken: "a core whose place another takes is ended with its requests under way",
    file: "src/workers/cores.ts",
    change: instead("if (before !== undefined) this.#leaving.add(before);", "before?.end();"),
    tests: ["tests/system/worker_deaths_test.ts"],
    only: "a request in progress survives",
  },
  {
    rows: ["SIGTERM under load"],
    broken: "the core ends before requests under way have their answers",
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
    broken: "a single instance keeps its bans in memory alone",
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
    broken: "an instance takes tables that are newer than those it knows",
    file: "src/store/postgres/postgres_schema.ts",
    change: instead("if (worksWith > known) {", "if (version > known) {"),
    tests: ["tests/faults/upgrade_test.ts"],
    only: "one with newer tables",
  },
  {
    rows: ["the tables are one version newer than an instance"],
    broken: "an instance takes tables that say it is too old for them",
    file: "src/store/postgres/postgres_schema.ts",
    change: instead("if (worksWith > known) {", "if (false) {"),
    tests: ["tests/store/postgres/postgres_schema_test.ts"],
  },
  {
    rows: ["the database is down", "the database has no free connection", "the database is restarted"],
    broken: "that no database is there is an error of ours",
    file: "src/store/postgres/postgres_servers.ts",
    change: instead(
      'throw new DatabaseUnavailable([...reasons].join("; "), { cause: error });',
      'throw new Error([...reasons].join("; "), { cause: error });',
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "waits for a server that starts again",
  },
  {
    rows: ["the database is frozen (SIGSTOP)"],
    broken: "that the database does not answer in time is an error of ours",
    file: "src/store/postgres/postgres_database.ts",
    change: instead(
      'late.abort(new DatabaseUnavailable("no answer in time"))',
      'late.abort(new Error("no answer in time"))',
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "leaves a server that answers no more",
  },
  {
    rows: ["the database exceeds `persistence.statementTimeout`", "the database's disk is full"],
    broken: "what the database refuses to do is an error of ours",
    file: "src/store/postgres/postgres_failure.ts",
    change: instead(
      '=== "refused" ? DatabaseFailure : DatabaseUnavailable',
      '=== "refused" ? Error : DatabaseUnavailable',
    ),
    tests: ["tests/store/postgres/postgres_database_test.ts"],
    only: "keeps all of a change or nothing",
  },
  {
    rows: ["the database has no free connection"],
    broken: "a refused connection keeps the database out of use for ever",
    file: "src/model/circuit_breaker.ts",
    change: instead("this.#until = now + pauseOf(this.#pauseMs);", "this.#until = Infinity;"),
    tests: ["tests/model/circuit_breaker_test.ts", "tests/store/postgres/refused_connections_test.ts"],
  },
  {
    rows: ["the database is read-only"],
    broken: "a server that takes no changes any more passes for one that is there",
    file: "src/store/postgres/postgres_watch.ts",
    change: instead(
      'this.#parts.unusable?.(); this.#disconnect("the server takes no changes any more");',
      "",
    ),
    tests: ["tests/store/postgres/postgres_outage_test.ts"],
    only: "leaves a server that takes no changes any more",
  },
  {
    rows: [
      "a ban by command: from the answer",
      "a ban by the administration page: from the answer",
      "an unban by command: from the answer",
      "an unban by that page: from the answer",
      "a revoked token: from the answer",
    ],
    broken: "what other instances tell of their changes is not listened to",
    file: "src/store/postgres/postgres_watch.ts",
    change: instead("this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1);", ""),
    tests: ["tests/store/postgres/postgres_database_test.ts"],
    only: "hears what others change",
  },
  {
    rows: ["`authserver database import` into a database that waits for its disk"],
    broken: "an import fails at rows that are there",
    file: "src/store/copy_rows.ts",
    change: instead(" ON CONFLICT DO NOTHING RETURNING", " RETURNING"),
    tests: ["tests/store/copy_rows_test.ts"],
    only: "copyRows() leaves rows alone that appear",
  },
  {
    rows: ["a million shares and a million tokens in PostgreSQL", "purging 200000 expired shares"],
    broken: "expired shares are found without an index",
    file: "src/store/postgres/tables/share_and_record.sql",
    change: instead("CREATE INDEX share_by_end ON share (expires) WHERE expires > 0;", ""),
    tests: ["tests/sharing/store/postgres_share_store_test.ts"],
    only: "whoever looks for some shares",
  },
  {
    rows: ["database time of a request, with 1000000 shares", "commands of the operator on the same tables"],
    broken: "the uses of a share are found without an index",
    file: "src/store/postgres/tables/share_and_record.sql",
    change: instead("CREATE INDEX share_use_by_share ON share_use (server, id, key);", ""),
    tests: ["tests/sharing/store/postgres_share_store_test.ts"],
    only: "whoever looks for some shares",
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
    broken: "instances that cannot hear of a ban are not named to the operator",
    file: "src/resource/admin/admin_api.ts",
    change: instead("stored === false || !alive", "false"),
    tests: ["tests/faults/database_test.ts"],
    only: "a ban that other instances cannot hear of",
  },
  {
    rows: ["an instance has a different configuration"],
    broken: "instances are not told apart by their configurations",
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
    broken: "three instances ask a daemon with more connections than it takes",
    file: "src/daemon/queue.ts",
    change: instead("return ready && 2 * this.instances() <= PLACES ? 2 : 1;", "return 2;"),
    tests: ["tests/daemon/queue_test.ts"],
  },
  {
    rows: [
      "300 concurrent clients of one-time shares while an instance is killed, " +
      "the database is stopped, or both",
    ],
    broken: "a use is taken and not counted",
    file: "src/sharing/store/share_sql.ts",
    change: instead("SET uses_left = uses_left - 1,", "SET uses_left = uses_left,"),
    tests: ["tests/faults/database_test.ts"],
    only: "a share for one use",
  },
  {
    rows: ["an instance is killed"],
    broken: "an instance counts as serving for ever",
    file: "src/instances/instance_register.ts",
    change: instead("alive: other.ageMs < silentMs,", "alive: true,"),
    tests: ["tests/instances/instance_register_test.ts"],
  },
  {
    rows: ["the database fails and a standby is promoted"],
    broken: "only the first of several servers is asked",
    file: "src/store/postgres/postgres_servers.ts",
    change: instead("this.options.servers.map((server)", "this.options.servers.slice(0, 1).map((server)"),
    tests: ["tests/faults/database_test.ts"],
    only: "instances go to the standby",
  },
  {
    rows: ["the clock of one instance is 5 hours ahead"],
    broken: "an instance goes by the clock of its machine",
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
