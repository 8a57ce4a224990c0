/** Other text from outside: unverified claims, forwarded addresses, queries, names, lines of a log. */
import fc from "fast-check";
import { LinearPattern } from "../../src/attributes/file/linear_pattern.ts";
import { readTokenRequest } from "../../src/authentication/issued_token/issue.ts";
import { readBearer } from "../../src/authentication/parse_credentials.ts";
import { asJsonLines, forJournal } from "../../src/logging/line_forms.ts";
import { decodeBase64, decodeBase64Url } from "../../src/model/base64.ts";
import { readCookie } from "../../src/model/cookie.ts";
import { HeaderList, readTarget } from "../../src/model/http_message.ts";
import { parseForm } from "../../src/resource/form.ts";
import { InvalidAdminRequest, parseAdminRequest } from "../../src/resource/admin/admin_request.ts";
import { parseUploadRange } from "../../src/resource/access/drop/upload_range.ts";
import { ListingPart } from "../../src/resource/access/listing_part.ts";
import { parseListingQuery } from "../../src/resource/access/listing_query.ts";
import { checkQuery, originOf } from "../../src/service/http/request_checks.ts";
import { fuzz } from "./fuzz.ts";
import { hostileText } from "./hostile_text.ts";
import { asItIs, distinct, FILE, JSON_FORMS, KIB, NAME_FORMS } from "./shapes.ts";

const GATEWAY = { enabled: true, trustedPeers: ["10.0.0.0/8"], certificate: undefined };
const DECLARED = { limited: "boolean", lifetime: "integer" } as const;

fuzz({
  name: "readBearer()",
  input: hostileText("eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4iLCJpc3MiOiJhbm4ifQ.AAAA"),
  parse: readBearer,
  growth: { longest: 16 * KIB, forms: ["…", "e30.….AAAA", "….e30.AAAA"], input: asItIs },
});
fuzz({
  name: "decodeBase64() and decodeBase64Url()",
  input: hostileText("QUJDRA==", "_-8"),
  parse: (text) => [decodeBase64(text), decodeBase64Url(text)],
  growth: { longest: 16 * KIB, forms: ["…", "QUJD…", "…="], input: asItIs },
});
fuzz({
  name: "readCookie()",
  input: hostileText("__Host-a=AbCd_-; b=2"),
  parse: (text) => readCookie(text, "__Host-a"),
  growth: { longest: 32 * KIB, forms: ["…", "__Host-a=…", "…=1", "a=1;…"], input: asItIs },
});
fuzz({
  name: "parseForm()",
  input: hostileText("user=ann&password=a%20b+c&token=AbCd"),
  parse: parseForm,
  throws: ["ERR_INVALID_REQUEST"],
  growth: { longest: 64 * KIB, forms: ["…", "a=…", "a=1&…", "%…"], input: asItIs },
});
fuzz({
  name: "readTarget()",
  input: hostileText("/rest/access/HPC/AbCd/a%20b/?from=%2Fx&limit=5", "/rest/auth/HPC"),
  parse: readTarget,
  growth: { longest: 8 * KIB, forms: ["…", "/…", "/a?…", "/.…"], input: asItIs },
});
fuzz({
  name: "originOf()",
  input: fc.tuple(
    hostileText("https://gate.example:8443/SITE"),
    hostileText("192.0.2.1", "::ffff:192.0.2.1"),
  ),
  parse: ([base, address]) => {
    const clean = (text: string) => text.replace(/[\0\r\n]/g, " ");
    const headers = new HeaderList([
      "X-UNICORE-Gateway",
      clean(base),
      "X-UNICORE-Consignor-IP",
      clean(address),
    ]);
    return originOf({ headers, client: { address: "10.0.0.1" } }, GATEWAY, "https://x");
  },
  throws: ["ERR_BAD_FORWARDING"],
  growth: {
    longest: 2 * KIB,
    forms: ["…", "https://…", "https://a/…"],
    input: (text): [string, string] => [text, "192.0.2.1"],
  },
});
fuzz({
  name: "checkQuery() and readTokenRequest()",
  input: hostileText("limited=true&lifetime=60"),
  parse: (query) => {
    checkQuery(new URLSearchParams(query), DECLARED);
    readTokenRequest(new URLSearchParams(query));
  },
  throws: ["ERR_INVALID_REQUEST", "ERR_INVALID_TOKEN_REQUEST"],
  growth: {
    longest: 8 * KIB,
    forms: ["…", "limited=…", "lifetime=…", distinct((n) => `&k${n}=1`), distinct(() => "limited=true&")],
    input: asItIs,
  },
});
fuzz({
  name: "parseUploadRange()",
  input: hostileText("bytes 2-5/10"),
  parse: (range) => parseUploadRange(HeaderList.of({ "Content-Range": range.replace(/[\0\r\n]/g, " ") })),
  throws: ["ERR_INVALID_REQUEST"],
  growth: { longest: 8 * KIB, forms: ["…", "bytes …", "bytes 1-…", "bytes 1-2/…"], input: asItIs },
});
fuzz({
  name: "parseListingQuery() and ListingPart",
  input: hostileText("sort=size&desc=&find=a%20b&after=12:name/"),
  parse: (query) => new ListingPart(parseListingQuery(new URLSearchParams(query))),
  throws: ["ERR_INVALID_REQUEST"],
  growth: {
    longest: 8 * KIB,
    forms: ["…", "sort=…", "find=…", "after=…", "sort=size&after=1:…", distinct(() => "find=&")],
    input: asItIs,
  },
});
fuzz({
  name: "parseAdminRequest()",
  input: hostileText('{"command":"ban add","user":"ann","address":"192.0.2.1","seconds":60,"operator":"op"}'),
  parse: parseAdminRequest,
  throws: [InvalidAdminRequest],
  growth: {
    longest: 16 * KIB,
    forms: [...JSON_FORMS, '{"command":"…"}', '{"command":"user show","uid":"…"}'],
    input: asItIs,
  },
});
fuzz({
  name: "LinearPattern.matches()",
  input: hostileText("cn=ann example,o=site a,c=de"),
  parse: (name) => new LinearPattern("(cn=.*,)*(o=(site|lab) .*)?c=[a-z]{2}").matches(name),
  growth: { longest: 4 * KIB, forms: NAME_FORMS, input: asItIs },
});
fuzz({
  name: "asJsonLines() and forJournal()",
  input: hostileText(
    '2026-01-05T09:15:00.123Z info  login refused user=ann reason="bad \\"password\\"" ms=12\n',
    '{"time":"2026-01-05T09:15:00.123Z","level":"warn","message":"x"}\n',
  ),
  parse: (text) => [asJsonLines(text), forJournal(text)],
  growth: {
    longest: FILE,
    forms: [
      "…",
      "2026-01-05T09:15:00.123Z info  …",
      '2026-01-05T09:15:00.123Z info  a b="…"',
      '{"time":"…"}',
    ],
    input: asItIs,
  },
});
