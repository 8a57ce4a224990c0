import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { readProxyHeader } from "../../src/edge/proxy_header.ts";
import { canonicalAddress } from "../../src/model/address.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { binaryHeader, IPV4, V1 } from "./proxy_headers.ts";

const IPV6 = [
  ...[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7],
  ...[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  ...[0xdc, 0x04, 0x23, 0x28],
];
const MAPPED = [...new Array(10).fill(0), 255, 255, 192, 0, 2, 7, ...IPV6.slice(16)];
const UNIX = new Array<number>(216).fill(47);
const NETNS = [0x30, 0, 3, 97, 98, 99];

const whole: readonly [string, Buffer, string | undefined][] = [
  ["TCP4", V1, "192.0.2.7"],
  ["TCP6", Buffer.from("PROXY TCP6 2001:DB8:0:0::7 2001:db8::1 0 65535\r\n"), "2001:db8::7"],
  ["TCP6 of a mapped address", Buffer.from("PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n"), "192.0.2.7"],
  ["UNKNOWN", Buffer.from("PROXY UNKNOWN\r\n"), undefined],
  ["UNKNOWN with any text", Buffer.from("PROXY UNKNOWN 192.0.2.7 \n\r x\r\n"), undefined],
  ["the longest line", Buffer.from(`PROXY UNKNOWN ${"f".repeat(91)}\r\n`), undefined],
  ["IPv4", binaryHeader(), "192.0.2.7"],
  ["IPv4 and more", binaryHeader({ rest: [...IPV4, ...NETNS] }), "192.0.2.7"],
  ["IPv6", binaryHeader({ family: 0x21, rest: IPV6 }), "2001:db8::7"],
  ["IPv6 of a mapped address", binaryHeader({ family: 0x21, rest: MAPPED }), "192.0.2.7"],
  ["LOCAL", binaryHeader({ version: 0x20, family: 0, rest: [] }), undefined],
  ["LOCAL with addresses", binaryHeader({ version: 0x20 }), undefined],
  ["LOCAL with any family", binaryHeader({ version: 0x20, family: 0xff, rest: NETNS }), undefined],
  ["no family", binaryHeader({ family: 0, rest: IPV4 }), undefined],
  ["UDP", binaryHeader({ family: 0x12 }), undefined],
  ["a Unix socket", binaryHeader({ family: 0x31, rest: UNIX }), undefined],
  ["the longest", binaryHeader({ rest: [...IPV4, ...new Array(508).fill(4)] }), "192.0.2.7"],
];
for (const [what, header, client] of whole) {
  Deno.test(`readProxyHeader() reads ${what}, and leaves the following bytes`, () => {
    const expected = { kind: "whole", length: header.length, client };
    assertAlike(readProxyHeader(header), expected);
    assertAlike(readProxyHeader(Buffer.concat([header, Buffer.alloc(70_000, 0x16)])), expected);
  });

  Deno.test(`readProxyHeader() waits for the rest of ${what}`, () => {
    for (let length = 0; length < header.length; length++) {
      assert.deepEqual(readProxyHeader(header.subarray(0, length)), { kind: "begun" });
    }
  });
}

const malformed: readonly [string, RegExp][] = [
  ["PROXY \r\n", /TCP4, TCP6 or UNKNOWN/],
  ["PROXY UDP4 192.0.2.7 192.0.2.1 1 2\r\n", /TCP4, TCP6 or UNKNOWN/],
  ["PROXY tcp4 192.0.2.7 192.0.2.1 1 2\r\n", /TCP4, TCP6 or UNKNOWN/],
  ["PROXY UNKNOWNX\r\n", /TCP4, TCP6 or UNKNOWN/],
  ["PROXY  TCP4 192.0.2.7 192.0.2.1 1 2\r\n", /TCP4, TCP6 or UNKNOWN/],
  ["PROXY TCP4\r\n", /two addresses/],
  ["PROXY TCP4 192.0.2.7\r\n", /two addresses/],
  ["PROXY TCP4  192.0.2.7 192.0.2.1 1 2\r\n", /two addresses/],
  ["PROXY TCP4 192.0.2.07 192.0.2.1 1 2\r\n", /two addresses/],
  ["PROXY TCP4 192.0.2.256 192.0.2.1 1 2\r\n", /two addresses/],
  ["PROXY TCP4 192.0.2.7 gateway 1 2\r\n", /two addresses/],
  ["PROXY TCP4 ::1 192.0.2.1 1 2\r\n", /two addresses/],
  ["PROXY TCP6 192.0.2.7 192.0.2.1 1 2\r\n", /two addresses/],
  ["PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n", /two addresses/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 1\r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 1 65536\r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 01 2\r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 -1 2\r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 1 2 \r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 1 2 3\r\n", /two ports/],
  ["PROXY TCP4 192.0.2.7 192.0.2.1 1 2\n\r\n", /two ports/],
  [`PROXY UNKNOWN ${"f".repeat(92)}\r\n`, /no end of line in 107 bytes/],
  [`PROXY ${"x".repeat(101)}`, /no end of line/],
];
for (const [line, reason] of malformed) {
  Deno.test(`readProxyHeader() refuses ${JSON.stringify(line).slice(0, 60)}`, () => {
    const header = readProxyHeader(Buffer.from(line));
    assert(header.kind === "malformed", header.kind);
    assert.match(header.reason, reason);
  });
}

const malformedBinary: readonly [string, Parameters<typeof binaryHeader>[0], RegExp][] = [
  ["version 1", { version: 0x11 }, /version 2, not 1/],
  ["version 3", { version: 0x31 }, /version 2, not 3/],
  ["an unassigned command", { version: 0x22 }, /not command 2/],
  ["an unspecified family", { family: 0x41 }, /0x41/],
  ["an unspecified protocol", { family: 0x13 }, /0x13/],
  ["too little for IPv4", { rest: IPV4.slice(1) }, /at least 28 bytes/],
  ["too little for IPv6", { family: 0x21, rest: IPV6.slice(1) }, /at least 52 bytes/],
  ["a declared length over the limit before the bytes arrive", { length: 521 }, /at most 536 bytes, not 537/],
  ["the longest declared length", { version: 0x20, length: 65_535 }, /at most 536 bytes/],
];
for (const [what, parts, reason] of malformedBinary) {
  Deno.test(`readProxyHeader() refuses ${what}`, () => {
    const header = readProxyHeader(binaryHeader(parts));
    assert(header.kind === "malformed", header.kind);
    assert.match(header.reason, reason);
  });
}

for (
  const text of [
    "\x16\x03\x01",
    "GET / HTTP/1.1\r\n",
    "PUT / HTTP/1.1",
    "PROXY/1",
    "proxy TCP4",
    "\r\nGET /",
    "\r\n\r\nG",
  ]
) {
  Deno.test(`readProxyHeader() finds no header in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(readProxyHeader(Buffer.from(text, "latin1")), { kind: "absent" });
  });
}

const port = fc.integer({ min: 0, max: 65_535 });
const address = { 4: fc.ipV4(), 6: fc.ipV6().filter((text) => !text.includes(".")) };

Deno.test("readProxyHeader() round-trips addresses in both versions", () => {
  fc.assert(fc.property(
    fc.constantFrom(4 as const, 6 as const).chain((family) =>
      fc.tuple(fc.constant(family), address[family], address[family], port, port)
    ),
    fc.uint8Array({ maxLength: 100 }),
    ([family, source, destination, from, to], rest) => {
      const client = canonicalAddress(source);
      assert(client !== undefined);
      const line = Buffer.from(`PROXY TCP${family} ${source} ${destination} ${from} ${to}\r\n`);
      assert.deepEqual(readProxyHeader(Buffer.concat([line, rest])), {
        kind: "whole",
        length: line.length,
        client,
      });
      const bytes = [...bytesOf(source), ...bytesOf(destination), from >> 8, from & 255, to >> 8, to & 255];
      const binary = binaryHeader({ family: family === 4 ? 0x11 : 0x21, rest: bytes });
      assert.deepEqual(readProxyHeader(Buffer.concat([binary, rest])), {
        kind: "whole",
        length: binary.length,
        client,
      });
    },
  ));
});

/** Returns an address as bytes, by the platform's URL parser, which writes all groups it does not shorten. */
function bytesOf(text: string): number[] {
  if (!text.includes(":")) return text.split(".").map(Number);
  const [head = "", tail = ""] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":");
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...new Array<string>(8 - first.length - last.length).fill("0"), ...last];
  return all.map((group) => parseInt(group, 16)).flatMap((value) => [value >> 8, value & 255]);
}

Deno.test("readProxyHeader() keeps its decision, whatever bytes follow", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 600 }),
    fc.tuple(
      fc.constantFrom(...whole.map(([, header]) => header)),
      fc.nat(),
      fc.uint8Array({ maxLength: 60 }),
    )
      .map(([header, at, more]) => Buffer.concat([header.subarray(0, at % (header.length + 1)), more])),
  );
  fc.assert(fc.property(bytes, fc.nat(), (all, cut) => {
    const early = readProxyHeader(all.subarray(0, cut % (all.length + 1)));
    if (early.kind !== "begun") assert.deepEqual(readProxyHeader(all), early);
  }));
});
