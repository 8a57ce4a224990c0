/** Other parts of a request: addresses, headers, paths and bodies. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { parseIf } from "../../src/resource/dav/if_header.ts";
import { parsePreferences } from "../../src/attributes/user_attributes.ts";
import { readProxyHeader } from "../../src/edge/proxy_header.ts";
import { canonicalAddress } from "../../src/model/address.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { parseByteRange } from "../../src/resource/access/byte_range.ts";
import { evaluateConditions } from "../../src/resource/access/validators.ts";
import { parseServerAddress } from "../../src/resource/server_facts.ts";
import { parseSessionRequest } from "../../src/resource/session_request.ts";
import { parseShareFields } from "../../src/resource/share/share_fields.ts";
import { Acceptance } from "../../src/service/http/acceptance.ts";
import { absolutePath } from "../../src/model/absolute_path.ts";
import { containedPath } from "../../src/resource/access/opened_share.ts";
import { matchesPattern } from "../../src/files/path_pattern.ts";
import { groupOf, parseTarget } from "../../src/sharing/share.ts";
import { InvalidName } from "../../src/model/distinguished_name.ts";
import { fuzz } from "./fuzz.ts";
import { hostileText } from "./hostile_text.ts";
import { asItIs, distinct, KIB } from "./shapes.ts";

fuzz({
  name: "parsePreferences()",
  input: hostileText("uid:ann,group:hpc,role:user,supgids:a+b").map((text) => [text]),
  parse: parsePreferences,
  throws: ["ERR_INVALID_PREFERENCES", "ERR_UNKNOWN_PREFERENCE"],
  growth: { longest: 4 * KIB, forms: ["…", "uid:…", "supgids:…"], input: (text) => [text] },
});
fuzz({
  name: "canonicalAddress()",
  input: hostileText("192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%eth0"),
  parse: canonicalAddress,
  growth: { longest: 64 * KIB, forms: ["…", "fe80::1%…", "::…", "1.2.3.…"], input: asItIs },
});
fuzz({
  name: "readProxyHeader()",
  input: fc.oneof(
    hostileText(
      "PROXY TCP4 192.0.2.7 192.0.2.1 56324 9000\r\n",
      "PROXY TCP6 ::1 2001:db8::1 1 2\r\n",
      "PROXY UNKNOWN\r\n",
    ),
    hostileText("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0cabcdefghijkl", "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"),
  ),
  parse: (text) => {
    const header = readProxyHeader(Buffer.from(text, "latin1"));
    if (header.kind !== "whole") return;
    assert(header.length <= text.length && header.length <= 536);
    assert(header.client === undefined || canonicalAddress(header.client) === header.client, header.client);
  },
  growth: {
    longest: 536,
    forms: ["…", "PROXY …\r\n", "PROXY UNKNOWN …", "PROXY TCP6 …", "\r\n\r\n\0\r\nQUIT\n\x21\x11\x02\x08…"],
    input: asItIs,
  },
});
fuzz({
  name: "parseTarget()",
  input: hostileText("group:hpc", "GROUP:proj-7", "CN=Ann Example,O=Site A,C=DE", " group:a.b "),
  parse: (text) => {
    const target = parseTarget(text);
    assert.equal(parseTarget(target), target, "what is stored is read as itself");
    assert(groupOf(target) === undefined || /^\s*group:/i.test(text));
  },
  throws: [InvalidName],
  growth: { longest: 64 * KIB, forms: ["…", "group:…", "group: …", "…group:a", "CN=…,O=a"], input: asItIs },
});
fuzz({
  name: "parseByteRange()",
  input: fc.tuple(hostileText("bytes=0-99", "bytes=-5", "bytes=1-,3-4"), fc.nat()),
  parse: ([header, size]) => {
    const range = parseByteRange(header, size);
    if (range.kind === "part") assert(range.first >= 0 && range.first <= range.last && range.last < size);
  },
  growth: {
    longest: 256,
    forms: ["…", "bytes=…", "bytes=…-"],
    input: (text): [string, number] => [text, 100],
  },
});
fuzz({
  name: "parseIf()",
  input: hostileText(
    '(<urn:uuid:1> ["a"])',
    '<https://host/dav/HPC/x> (Not <DAV:no-lock>) (["b"])',
    '(<urn:uuid:1> [W/"a"]) (Not ["b"])',
  ),
  parse: (text) => {
    for (const { conditions } of parseIf(text)) assert(conditions.length > 0 && conditions.length <= 100);
  },
  throws: ["ERR_INVALID_REQUEST"],
  growth: { longest: 16 * KIB, forms: ["…", "(<…", "(…", '([ "…', "<a> …", " …"], input: asItIs },
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
      evaluateConditions(new HeaderList([tag, clean(tags), time, clean(date)]), {
        etag: '"abc"',
        modifiedAt: 0,
        settled: true,
        version: "abc",
      });
    }
  },
  growth: { longest: 2 * KIB, forms: ["…", '"…"', "W/…"], input: (text): [string, string] => [text, text] },
});
fuzz({
  name: "Acceptance",
  input: hostileText("text/html;q=0.5, application/json, */*;q=0.1"),
  parse: (header) => {
    const accepted = new Acceptance(header);
    return [accepted.admits("application/json"), accepted.prefersHtml];
  },
  growth: { longest: KIB, forms: ["…", "text/html…x", "…x"], input: asItIs },
});
fuzz({
  name: "parseServerAddress()",
  input: hostileText("HPC-2", "A-1", "HPC"),
  parse: parseServerAddress,
  growth: { longest: 8 * KIB, forms: ["…", "HPC-…"], input: asItIs },
});
/** Returns the value of a JSON text, and any other text unchanged. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
/** Returns the values of changed JSON texts; texts that are no JSON any more stay texts. */
const hostileJson = (...good: readonly string[]) => hostileText(...good).map(jsonOf);
fuzz({
  name: "parseSessionRequest()",
  input: hostileJson(
    '{"serverPath":"/a/","streamCount":"2","encryptionKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","compress":true,"client":"127.0.0.1","group":"g","persistent":"false"}',
  ),
  parse: parseSessionRequest,
  throws: [HttpError],
  growth: {
    longest: 64 * KIB,
    forms: [
      "…",
      '{"serverPath":"…"}',
      '{"serverPath":"/a","client":"…"}',
      '{"serverPath":"/a","streamCount":"…"}',
      '{"serverPath":"/a","encryptionKey":"…"}',
      '{"serverPath":"/a","group":"…"}',
      distinct((n) => `,"k${n}":1`, '{"a":1', "}"),
    ],
    input: jsonOf,
  },
});
fuzz({
  name: "parseShareFields()",
  input: hostileJson(
    '{"path":"/a/b","user":"CN=Bob","access":"READ","onetime":"true","lifetime":"60","group":"g"}',
  ),
  parse: parseShareFields,
  throws: [HttpError],
  growth: {
    longest: 64 * KIB,
    forms: [
      "…",
      '{"path":"…"}',
      '{"path":"/a","user":"…"}',
      '{"path":"/a","access":"…"}',
      '{"path":"/a","lifetime":"…"}',
      '{"path":"/a","sources":["…"]}',
      '{"path":"/a","group":"…"}',
    ],
    input: jsonOf,
  },
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
  throws: [HttpError],
  growth: { longest: 8 * KIB, input: (text): [string, string[]] => [text, text.split("/")] },
});
fuzz({
  name: "matchesPattern()",
  input: fc.tuple(hostileText("/data/*/[a-c]?.t*", "/a/**/*"), hostileText("/data/x/b1.txt")),
  parse: ([pattern, path]) => matchesPattern(pattern, path),
  growth: {
    longest: 4 * KIB,
    forms: ["…", "/a…b"],
    input: (text): [string, string] => ["/data/*[ab]*.t?t", text],
  },
});
