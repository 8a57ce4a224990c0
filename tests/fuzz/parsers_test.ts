/** Every parser but that of SAML. `AUTHSERVER_LONG_TESTS` makes it a million cases each. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { InvalidPreferences, parsePreferences, UnknownPreference } from "../../src/attributes/preferences.ts";
import { readMapEntry, readMapFile } from "../../src/attributes/file/map_file.ts";
import { InvalidPattern, parsePattern } from "../../src/attributes/file/pattern_syntax.ts";
import { JSON_FORM } from "../../src/attributes/xuudb/json_form.ts";
import { SOAP_FORM } from "../../src/attributes/xuudb/soap_form.ts";
import { UnreadableAnswer } from "../../src/attributes/xuudb/wire_form.ts";
import { compileExpression } from "../../src/authentication/expression/expression.ts";
import { ExpressionError } from "../../src/authentication/expression/expression_error.ts";
import { parseJsonObject } from "../../src/authentication/json_object.ts";
import { InvalidReply, parseReply } from "../../src/authentication/oauth/reply_variables.ts";
import { parseCredentials } from "../../src/authentication/parse_credentials.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { InvalidToken, parseSignedToken } from "../../src/authentication/signed_token.ts";
import { parseKeyLine } from "../../src/authentication/ssh_key/authorized_keys.ts";
import { parseKeysFile } from "../../src/authentication/ssh_key/keys_file.ts";
import { readLegacyToken } from "../../src/authentication/ssh_key/legacy_token.ts";
import { decodePublicKey, UnusableKey } from "../../src/authentication/ssh_key/public_key.ts";
import { parseConsignor } from "../../src/authentication/x509.ts";
import { parseProperties } from "../../src/config/properties.ts";
import { certificatesOfPkcs12 } from "../../src/config/tls/pkcs12_certificates.ts";
import { UnusableStore } from "../../src/config/tls/unusable_store.ts";
import { parsePing, parseSession, parseUserInfo } from "../../src/daemon/parse_reply.ts";
import { canonicalAddress } from "../../src/model/address.ts";
import { comparableForm, InvalidName, parseName } from "../../src/model/distinguished_name.ts";
import { HeaderList } from "../../src/model/header_list.ts";
import { InvalidJson, readMembers } from "../../src/model/json_text.ts";
import { InvalidFile } from "../../src/model/problem.ts";
import { parseRate } from "../../src/model/rate.ts";
import { ServiceError } from "../../src/model/service_error.ts";
import { readReservationFile } from "../../src/reservations/reservation_file.ts";
import { parseByteRange } from "../../src/resource/access/byte_range.ts";
import { evaluateConditions } from "../../src/resource/access/validators.ts";
import { parseServerAddress } from "../../src/resource/server_address.ts";
import { parseSessionRequest } from "../../src/resource/session_request.ts";
import { parseShareFields } from "../../src/resource/share/share_fields.ts";
import { accepts, prefersHtml } from "../../src/service/negotiation.ts";
import { parseShareDump } from "../../src/sharing/import/share_dump.ts";
import { absolutePath } from "../../src/sharing/rules/absolute_path.ts";
import { containedPath } from "../../src/sharing/rules/contained_path.ts";
import { matchesPattern } from "../../src/sharing/rules/path_pattern.ts";
import { parseEntry } from "../../src/sharing/session_client/entry.ts";
import { ReplyReader } from "../../src/sharing/session_client/reply_reader.ts";
import { SessionFailed } from "../../src/sharing/session_client/session_errors.ts";
import { publicKeyWords, publicLine } from "../authentication/ssh_key/user_keys.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";

const DN = 'CN=Ann Example+OU=Lab 2, O=Site\\, A, UID=ann@site-a.example, 2.5.4.3="x, y", DC=DE, CN=#0c0141';
const MAP_JSON = `{
  "CN=Ann, C=DE": { "role": "user", "xlogin": ["ann", "ann2"], "uftpd.HPC.rateLimit": "10M" },
  "CN=.*, C=FR": { "role": "banned" }
}`;
const MAP_XML = `<?xml version="1.0"?>
<fileAttributeSource><!-- us --><entry key="CN=Ann, C=DE"><attribute name="role"><value>user</value></attribute>
<attribute name="xlogin"><value>ann</value><value>ann2</value></attribute></entry></fileAttributeSource>`;
const TOKEN =
  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4iLCJpc3MiOiJhbm4iLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0.im2vsrndG95IXhSH6fGzqDbtyQS1Ib1CYHJ6DTHAZJWYDFa1VZrOws_pG77MZCVuo0U_Gb59_NLIt6odFWFlBg";

/** Maps, parsed to the last entry. */
async function readMap(text: string, format: "JSON" | "XML"): Promise<void> {
  await readMapFile(text, { file: "map", format, take: () => {} });
}

fuzz({
  name: "parseProperties()",
  input: hostileText(
    "a.b = c\\\n  d\nx\\:y:z\n# no\n! no\nk\\u0041=\\t\\u00e4",
    "container.port=9000\r\n\r\nq",
  ),
  parse: (text) => parseProperties(text, "file"),
});
fuzz({
  name: "parsePasswordFile()",
  input: hostileText(
    "# users\nann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann, C=DE\n",
    "bob:$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g::CN=Bob\n",
  ),
  parse: (text) => parsePasswordFile(text, "file"),
});
fuzz({
  name: "parseKeysFile()",
  input: hostileText(
    `ann:${publicLine("user_ed25519")}:CN=Ann\n#\nbob:from="10.0.0.0/8" ${publicLine("user_rsa2048")}:CN=Bob`,
  ),
  parse: (text) => parseKeysFile(text, "file"),
});
fuzz({
  name: "parseKeyLine()",
  input: hostileText(
    publicLine("user_ecdsa256"),
    `from="10.0.0.0/8,!10.1.*",expiry-time="20300101",restrict,command="a \\"b\\"" ${
      publicLine("user_ed25519")
    }`,
  ),
  parse: parseKeyLine,
});
const [KEY_TYPE, KEY] = publicKeyWords("user_rsa2048");
fuzz({
  name: "decodePublicKey()",
  input: hostileBytes(Buffer.from(KEY, "base64"), Buffer.from(publicKeyWords("user_ed25519")[1], "base64")),
  parse: (bytes) => {
    assert.equal(KEY_TYPE, "ssh-rsa");
    decodePublicKey("ssh-rsa", Buffer.from(bytes).toString("base64"));
    decodePublicKey("ssh-ed25519", Buffer.from(bytes).toString("base64"));
  },
  throws: [UnusableKey],
});
fuzz({
  name: "readMapFile() of JSON",
  input: hostileText(MAP_JSON),
  parse: (text) => readMap(text, "JSON"),
  throws: [InvalidFile],
});
fuzz({
  name: "readMapFile() of XML",
  input: hostileText(MAP_XML),
  parse: (text) => readMap(text, "XML"),
  throws: [InvalidFile],
});
fuzz({
  name: "parsePattern()",
  input: hostileText("CN=(Ann|Bob)[^,]{1,9}, (?:O=\\w+)?.*", "^CN=.+?,\\s*C=D[EF]$", "\\QCN=a.b\\E.*"),
  parse: parsePattern,
  throws: [InvalidPattern],
});
fuzz({
  name: "readMembers() of JSON",
  input: hostileText(MAP_JSON, '{"a":[1,-2.5e3,true,null,"\\u00e4\\n",{"b":{}}]}'),
  parse: (text) => [...readMembers(text)],
  throws: [InvalidJson],
});
fuzz({
  name: "readReservationFile()",
  input: hostileText(
    `{"reservations":[{"name":"night","from":"2026-01-05 20:00","to":"2026-01-05T23:00+0100","uids":["ann"],"rateLimit":"10m"}]}`,
  ),
  parse: (text) => readReservationFile(text, { file: "file", zone: "Europe/Berlin", now: 1_800_000_000_000 }),
  throws: [InvalidFile],
});
fuzz({
  name: "parseCredentials()",
  input: fc.tuple(
    hostileText("Basic YWxpY2U6d29uZGVy", `Bearer ${TOKEN}`, "bearer x", "Digest a=b"),
    fc.option(hostileText("AAAAAA==")),
  ),
  parse: ([authorization, signed]) => {
    const printable = (text: string) => text.replace(/[\0\r\n]/g, " ");
    const headers = new HeaderList([["Authorization", printable(authorization)]]);
    if (signed !== null) headers.set("X-UNICORE-SSHKEY-AUTH-PLAINTEXT", printable(signed));
    const { authorization: { kind } } = parseCredentials(headers, { clientAddress: "127.0.0.1" });
    assert.notEqual(kind, "none", "credentials that cannot be read are never none");
  },
});
fuzz({
  name: "parseSignedToken()",
  input: hostileText(TOKEN, TOKEN.replace(/[^.]+$/, "")),
  parse: parseSignedToken,
  throws: [InvalidToken],
});
fuzz({
  name: "parseJsonObject()",
  input: hostileBytes(
    Buffer.from('{"sub":"ann","iss":"ann","iat":1800000000,"exp":1.8e9,"etd":false,"x":{"y":[1]}}'),
  ),
  parse: parseJsonObject,
});
fuzz({
  name: "readLegacyToken()",
  input: fc.tuple(hostileText("XiYaw8LEsI6VuobhwccV+g=="), hostileBytes(Buffer.from("0123456789abcdefghij"))),
  parse: ([signature, signed]) => readLegacyToken("ann", signature, signed),
});
fuzz({
  name: "compileExpression()",
  input: hostileText(
    `"UID=" + email.toLowerCase().replace("@", "_")`,
    `groups.contains("hpc") ? ["a", "b"] : (sub != null && sub.length() > 3) ? 'x' : null`,
    "a.b.c[0].substring(1, 2)",
  ),
  parse: (source) => {
    const variables = new Map<string, string | string[]>([["email", "Ann@x"], ["groups", ["hpc"]], [
      "sub",
      "s",
    ]]);
    const expression = compileExpression(source);
    expression.text(variables);
    expression.name(variables);
    expression.list(variables);
  },
  throws: [ExpressionError],
});
fuzz({
  name: "parseReply() of identity providers",
  input: hostileText(
    '{"sub":"1","email":"a@b","groups":["x",{"y":1}],"n":12345678901234567890,"t":true,"z":null}',
  ),
  parse: parseReply,
  throws: [InvalidReply],
});
fuzz({
  name: "parseConsignor()",
  input: hostileText('DN="CN=Ann,C=DE";DSIG=QUJD', 'DSIG="";DN=CN\\=x'),
  parse: parseConsignor,
});
fuzz({ name: "parseName()", input: hostileText(DN, "CN=a,C=DE"), parse: parseName, throws: [InvalidName] });
fuzz({ name: "comparableForm()", input: hostileText(DN), parse: comparableForm, throws: [InvalidName] });
fuzz({
  name: "parsePreferences()",
  input: hostileText("uid:ann,group:hpc,role:user,supgids:a+b").map((text) => [text]),
  parse: parsePreferences,
  throws: [InvalidPreferences, UnknownPreference],
});
fuzz({ name: "parseRate()", input: hostileText("10M", "209715200", "1.5 g"), parse: parseRate });
fuzz({
  name: "canonicalAddress()",
  input: hostileText("192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%eth0"),
  parse: canonicalAddress,
});
fuzz({
  name: "parseByteRange()",
  input: fc.tuple(hostileText("bytes=0-99", "bytes=-5", "bytes=1-,3-4"), fc.nat()),
  parse: ([header, size]) => {
    const range = parseByteRange(header, size);
    if (range.kind === "part") assert(range.first >= 0 && range.first <= range.last && range.last < size);
  },
});
fuzz({
  name: "evaluateConditions()",
  input: fc.tuple(hostileText('"abc", W/"d"', "*"), hostileText("Mon, 05 Jan 2026 20:00:00 GMT")),
  parse: ([tags, date]) => {
    const clean = (text: string) => text.replace(/[\0\r\n]/g, " ");
    for (
      const [tag, time] of [["If-Match", "If-Unmodified-Since"], [
        "If-None-Match",
        "If-Modified-Since",
      ]] as const
    ) {
      evaluateConditions(new HeaderList([[tag, clean(tags)], [time, clean(date)]]), {
        etag: '"abc"',
        lastModified: 0,
      });
    }
  },
});
fuzz({
  name: "accepts() and prefersHtml()",
  input: hostileText("text/html;q=0.5, application/json, */*;q=0.1"),
  parse: (header) => [accepts(header, "application/json"), prefersHtml(header)],
});
fuzz({
  name: "parseServerAddress()",
  input: hostileText("HPC-2", "A-1", "HPC"),
  parse: parseServerAddress,
});
/** JSON texts, spoiled, as far as they are still JSON. */
const hostileJson = (...good: readonly string[]) =>
  hostileText(...good).map((text): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  });
fuzz({
  name: "parseSessionRequest()",
  input: hostileJson(
    '{"serverPath":"/a/","streamCount":"2","encryptionKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","compress":true,"client":"127.0.0.1","group":"g","persistent":"false"}',
  ),
  parse: parseSessionRequest,
  throws: [ServiceError],
});
fuzz({
  name: "parseShareFields()",
  input: hostileJson(
    '{"path":"/a/b","user":"CN=Bob","access":"READ","onetime":"true","lifetime":"60","group":"g"}',
  ),
  parse: parseShareFields,
  throws: [ServiceError],
});
fuzz({
  name: "absolutePath() and containedPath()",
  input: fc.tuple(hostileText("/data/dir/"), fc.array(hostileText("a", "..", ".b"), { maxLength: 3 })),
  parse: ([path, segments]) => {
    const contained = containedPath({ path: "/data/d/" }, segments);
    assert(contained === "/data/d/" || contained.startsWith("/data/d/"), contained);
    assert(!contained.split("/").includes(".."), contained);
    const absolute = absolutePath(path);
    assert(absolute.startsWith("/") && !/(?:^|\/)\.\.?(?:\/|$)/.test(absolute), absolute);
  },
  throws: [ServiceError],
});
fuzz({
  name: "matchesPattern()",
  input: fc.tuple(hostileText("/data/*/[a-c]?.t*", "/a/**/*"), hostileText("/data/x/b1.txt")),
  parse: ([pattern, path]) => matchesPattern(pattern, path),
});
fuzz({
  name: "parseShareDump()",
  input: hostileText(
    'path,ownerID,uid,targetID,access\n/a/b,"CN=Ann, C=DE",ann,CN=Bob,READ\n',
    '[{"path":"/a","ownerID":"CN=Ann","uid":"ann","targetID":"CN=Bob","expires":"1800000000"}]',
  ),
  parse: (text) => parseShareDump(text, { file: "dump", server: "HPC", servers: ["HPC"], now: 0 }),
  throws: [InvalidFile],
});
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
});
fuzz({
  name: "parseEntry() of a daemon's listing",
  input: hostileText("size=12;modify=20260105200000;type=file;perm=rw; a file.txt", "type=dir;perm=lwe; x"),
  parse: parseEntry,
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
    for (;;) {
      const { code, inner } = await reader.read(1);
      assert(code >= 100 && code < 600 && inner.every((line) => !line.includes("\n")));
    }
  },
  throws: [SessionFailed],
});
fuzz({
  name: "JSON_FORM.read() and SOAP_FORM.read() of an XUUDB",
  input: hostileText(
    '{"xlogin":"ann:bob","role":"user","projects":"a:b"}',
    "<s:Envelope xmlns:s='s'><s:Body><x:CheckDNResponse xmlns:x='x'><x:xlogin>a</x:xlogin></x:CheckDNResponse></s:Body></s:Envelope>",
  ),
  parse: (body) => body.startsWith("<") ? SOAP_FORM.read(body) : JSON_FORM.read(body),
  throws: [UnreadableAnswer],
});
fuzz({
  name: "readMapEntry()",
  input: hostileText(
    '"CN=Ann": {"role":"user"}',
    '<entry key="CN=a"><attribute name="role"><value>u</value></attribute></entry>',
  ),
  parse: (text) => {
    try {
      readMapEntry(text);
    } catch (error) {
      assert(error instanceof Error && /^(?:InvalidJson|InvalidXml)$/.test(error.name), String(error));
    }
  },
});
fuzz({
  name: "certificatesOfPkcs12()",
  input: hostileBytes(Buffer.from("3082010a0201033081d306092a864886f70d010701a081c50481c23081bf", "hex")),
  parse: (bytes) => certificatesOfPkcs12(bytes, "password"),
  throws: [UnusableStore],
});
