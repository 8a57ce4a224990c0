import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { parseRequest, RequestReader } from "./request_parser.ts";

const values = (request: Uint8Array | string): Record<string, string> | string => {
  const parsed = parseRequest(request);
  return parsed.kind === "complete" ? Object.fromEntries(parsed.values) : parsed.kind;
};
const long = (length: number) => "x".repeat(length);

const READINGS: readonly [
  fact: string,
  request: string | Uint8Array,
  expected: Record<string, string> | string,
][] = [
  ["lines up to END", "a=1\nb=2\nEND\nc=3\n", { a: "1", b: "2" }],
  ["the last of several values", "a=1\na=2\nEND\n", { a: "2" }],
  ["CR LF, and a lone CR, as line ends", "a=1\r\nb=2\rc=3\r\nEND\r\n", { a: "1", b: "2", c: "3" }],
  ["VT, FF, NEL and U+2028 within a value", "a=1\v2\f3\x854\u20285\nEND\n", { a: "1\v2\f3\x854\u20285" }],
  ["no value from a line without =", "junk\n\nEND\n", {}],
  ["the first = as separator", "a=b=c\nEND\n", { a: "b=c" }],
  ["keys exactly", "user = x\nUser=y\nEND\n", { "user ": " x", "User": "y" }],
  ["Unicode white space off both ends", "\u00a0\u2028a= b\u3000\f\x1f\x85\nEND\n", { a: " b" }],
  ["a BOM as part of the key", "\ufeffa=1\nEND\n", { "\ufeffa": "1" }],
  ["any line that starts with END as the end", "a=1\nENDa=2\nb=3\nEND\n", { a: "1" }],
  ["nothing below an indented END", "a=1\n END\nb=2\nEND\n", { a: "1" }],
  ["a final END without a line end", "a=1\nEND", { a: "1" }],
  ["input without END as incomplete", "a=1\n", "incomplete"],
  ["empty input as incomplete", "", "incomplete"],
  ["END in lower case as a line like any other", "end\n", "incomplete"],
  [
    "invalid UTF-8 as undecodable",
    Uint8Array.of(0x61, 0xff, 0x0a, 0x45, 0x4e, 0x44, 0x0a),
    "undecodable",
  ],
  ["a truncated character at the end likewise", Uint8Array.of(0x61, 0x0a, 0xc3), "undecodable"],
  ["an overlong or surrogate form likewise", Uint8Array.of(0xed, 0xa0, 0x80, 0x0a), "undecodable"],
  ["the rest of a line over 8192 characters as a line", `a=${long(8190)}b=2\nEND\n`, {
    a: long(8190),
    b: "2",
  }],
  ["END at character 8193 as the end", `a=${long(8190)}END\nb=2\nEND\n`, { a: long(8190) }],
  ["8192 characters, not bytes", `a=${"ä".repeat(8190)}b=2\nEND\n`, { a: "ä".repeat(8190), b: "2" }],
  ["8192 characters, not UTF-16 units", `a=${"😀".repeat(8190)}b=2\nEND\n`, { a: "😀".repeat(8190), b: "2" }],
  ["a line of 8192 characters whole", `a=${long(8190)}\nEND\n`, { a: long(8190) }],
  ["hostile keys", "__proto__=1\nconstructor=2\nEND\n", JSON.parse('{"__proto__":"1","constructor":"2"}')],
  [
    "invalid bytes far after END without an error",
    Buffer.concat([Buffer.from(`a=1\nEND\n${long(8192)}`), Buffer.of(0xff)]),
    { a: "1" },
  ],
];
for (const [fact, request, expected] of READINGS) {
  Deno.test(`parseRequest() reads ${fact}`, () => assert.deepEqual(values(request), expected));
}

Deno.test("RequestReader reads the same request in any pieces", () => {
  const text = fc.array(
    fc.constantFrom("a=", "b", "\r", "\n", "\r\n", "END", " ", "ä", "😀", "\u2028", long(4095), "="),
    { maxLength: 30 },
  );
  fc.assert(fc.property(text, fc.nat({ max: 5000 }), (parts, size) => {
    const bytes = Buffer.from(`${parts.join("")}\nEND\n`);
    const reader = new RequestReader();
    let result = reader.push(new Uint8Array());
    for (let at = 0; at < bytes.length && result.kind === "incomplete"; at += size + 1) {
      result = reader.push(bytes.subarray(at, at + size + 1));
    }
    if (result.kind === "incomplete") result = reader.end();
    assert.deepEqual(result, parseRequest(bytes));
    assert.equal(result.kind, "complete");
  }));
});

Deno.test("parseRequest() round-trips clean keys and values", () => {
  const clean = fc.stringMatching(/^[!-~]{1,40}$/);
  fc.assert(
    fc.property(
      fc.dictionary(clean.filter((k) => !k.includes("=") && !k.startsWith("END")), clean),
      (wanted) => {
        const text = Object.entries(wanted).map(([key, value]) => `${key}=${value}\n`).join("");
        assert.deepEqual(values(`${text}END\n`), { ...wanted });
      },
    ),
  );
});
