/** Replies of other systems: transfer daemons, LDAP servers and the XUUDB. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { FilterParser, SearchRequest } from "ldapts";
import { InvalidAnswer, JSON_FORM, SOAP_FORM } from "../../src/attributes/xuudb/xuudb_source.ts";
import { parsePing, parseSession, parseUserInfo } from "../../src/daemon/parse_reply.ts";
import { parseEntry } from "../../src/daemon/session/entry.ts";
import { ReplyReader } from "../../src/daemon/session/reply_reader.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { fillFilter } from "../../src/outgoing/ldap/ldap_directory.ts";
import { InvalidLdapMessage, LdapConnection, readResponse } from "../../src/outgoing/ldap/ldap_connection.ts";
import { entry, message, policy, result } from "../outgoing/ldap/ldap_wire.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";
import { asItIs, distinct, FILE, JSON_FORMS, KIB, latin1, XML_FORMS } from "./shapes.ts";

fuzz({
  name: "parsePing(), parseSession() and parseUserInfo() of daemons",
  input: hostileText(
    "Version: 3.5.3\nListenPort: 50400\nListenAddress: localhost\nMaxSessionsPerClient: 8\n\n",
    "OK::64434\n",
    "ERROR::Too many active sessions for 'ann' - server limit is 8\n",
    `Version: 3.5.3\nUser: ann\nHome: /home/ann\nStatus: OK\nAccepted key 0: ${
      publicLine("user_ed25519")
    }\n\n`,
  ),
  parse: (reply) => {
    parsePing(reply);
    parseUserInfo(reply);
    const session = parseSession(reply);
    if (session?.kind === "expected") assert(session.port > 0 && session.port < 65536);
  },
  growth: {
    longest: FILE,
    forms: [
      "…",
      "Version: …\n",
      "OK::…\n",
      "ERROR::…\n",
      "Home: …\nStatus: OK\n",
      "Accepted key 0: …\nStatus: OK\n",
      "500 …\n\n",
      distinct((n) => `k${n}: v\n`),
    ],
    input: asItIs,
  },
});
const LDAP_REQUEST = new SearchRequest({ messageId: 1, filter: FilterParser.parseString("(uid=a)") });
fuzz({
  name: "readResponse() of an LDAP server",
  input: hostileBytes(
    message(1, entry("uid=a,dc=x", { uid: ["a"], memberOf: ["cn=a,dc=x", "cn=b,dc=x"] })),
    message(1, result(0, { tag: 0x65 })),
    message(1, result(49, { said: "data 775" }), policy(1)),
  ),
  parse: (bytes) => readResponse(Buffer.from(bytes), LDAP_REQUEST),
  throws: [InvalidLdapMessage],
  growth: {
    longest: 1024 * KIB,
    forms: [
      (length) => message(1, entry("a", { a: Array(Math.ceil(length / 3)).fill("b") })).toString("latin1"),
    ],
    input: (text) => Buffer.from(text, "latin1"),
  },
});
fuzz({
  name: "LdapConnection.search(), by single bytes",
  cost: 5,
  input: hostileBytes(
    Buffer.concat([message(1, entry("uid=a", { uid: ["a"] })), message(1, result(0, { tag: 0x65 }))]),
  ),
  parse: async (bytes) => {
    const pieces = bytes.values();
    const connection = new LdapConnection({
      read: () =>
        Promise.resolve(pieces.next().value).then((byte) =>
          byte === undefined ? undefined : Uint8Array.of(byte)
        ),
      write: () => Promise.resolve(),
      close() {},
    });
    await connection.search({ base: "", scope: "sub", filter: "(uid=a)", attributes: [], most: 2 }).catch(
      (error) => assert(error instanceof InvalidLdapMessage || /closed/.test(error.message), error),
    );
  },
  growth: {
    longest: 64 * KIB,
    forms: [(length) => message(1, entry("x".repeat(length), {})).toString("latin1")],
    input: latin1,
  },
});
fuzz({
  name: "fillFilter() and the parser of ldapts",
  input: hostileText("ann", "*)(uid=*", "\\2a"),
  parse: (user) => {
    const { length } = FilterParser.parseString(fillFilter("(&(a=b)(uid=%user%))", { user })).toString();
    assert(length > 0);
  },
  growth: { longest: 64 * KIB, input: asItIs },
});
fuzz({
  name: "parseEntry() of a daemon's listing",
  input: hostileText("size=12;modify=20260105200000;type=file;perm=rw; a file.txt", "type=dir;perm=lwe; x"),
  parse: parseEntry,
  growth: {
    longest: 16 * KIB,
    forms: ["…", "size=1;…; a", "type=file;perm=r; …", "-rw- 1 …"],
    input: asItIs,
  },
});
fuzz({
  name: "ReplyReader.read() of a daemon's session",
  input: fc.tuple(
    hostileText(
      "220 hello\n",
      "250- Listing\n size=1;type=file; a\n250 End\n",
      "229 Entering (|||50400|)\r\n",
    ),
    fc.integer({ min: 1, max: 40 }),
  ),
  parse: async ([text, atOnce]) => {
    const bytes = new TextEncoder().encode(text);
    let at = 0;
    const reader = new ReplyReader({
      read: (into) => {
        const part = bytes.subarray(at, at += atOnce);
        into.set(part);
        return Promise.resolve(part.length === 0 ? null : part.length);
      },
      fail: () => {},
    });
    for (let replies = 0;; replies++) {
      try {
        const { code, inner } = await reader.read(1);
        assert(code >= 100 && code < 600 && inner.every((line) => !line.includes("\n")));
      } catch (error) {
        if (replies > 0 && isHttpError(error, "ERR_DAEMON_SESSION")) break; // the text has no further reply
        throw error;
      }
    }
  },
  throws: ["ERR_DAEMON_SESSION"],
  growth: {
    longest: 64 * KIB,
    forms: ["…", "220 …\n", "250-a\n …\n250 End\n", (length) => `250-a\n${" a\n".repeat(length / 3)}250 b\n`],
    input: (text): [string, number] => [text, 4 * KIB],
  },
});
fuzz({
  name: "JSON_FORM.read() and SOAP_FORM.read() of an XUUDB",
  input: hostileText(
    '{"xlogin":"ann:bob","role":"user","projects":"a:b"}',
    "<s:Envelope xmlns:s='s'><s:Body><x:CheckDNResponse xmlns:x='x'><x:xlogin>a</x:xlogin></x:CheckDNResponse></s:Body></s:Envelope>",
  ),
  parse: (body) => body.startsWith("<") ? SOAP_FORM.read(body) : JSON_FORM.read(body),
  throws: [InvalidAnswer],
  growth: {
    longest: FILE,
    forms: [
      ...JSON_FORMS,
      ...XML_FORMS,
      "<Envelope><Body><CheckDNResponse>…</CheckDNResponse></Body></Envelope>",
      "<Envelope><Body><CheckDNResponse><xlogin>…</xlogin></CheckDNResponse></Body></Envelope>",
    ],
    input: asItIs,
  },
});
