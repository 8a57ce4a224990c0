import assert from "node:assert/strict";
import { encodeElement, InvalidDer, readElement } from "../../src/model/der_element.ts";

const der = (hex: string) => readElement(Uint8Array.fromHex(hex.replaceAll(" ", "")));
const refused = (act: () => unknown) => assert.throws(act, InvalidDer);

for (
  const [hex, expected] of [
    ["04 03 010203", "010203"],
    ["04 00", ""],
    ["24 05 0403 010203", "010203"],
    ["24 0b 0401 01 0402 0203 0402 0405", "0102030405"],
    ["24 09 2405 0403 010203 0400", "010203"],
  ] as const
) {
  Deno.test(`DerElement.octets() of ${hex} are ${expected || "none"}`, () => {
    assert.equal(der(hex).octets().toHex(), expected);
  });
}

for (
  const [hex, expected] of [
    ["02 01 00", 0],
    ["02 01 7f", 127],
    ["02 02 0100", 256],
    ["02 05 00ffffffff", 4_294_967_295],
  ] as const
) {
  Deno.test(`DerElement.integer() of ${hex} is ${expected}`, () =>
    assert.equal(der(hex).integer(), expected));
}

for (
  const [hex, expected] of [
    ["06 01 2a", "1.2"],
    ["06 01 27", "0.39"],
    ["06 01 28", "1.0"],
    ["06 01 50", "2.0"],
    ["06 03 550406", "2.5.4.6"],
    ["06 06 2a864886f70d", "1.2.840.113549"],
    ["06 02 8837", "2.999"],
    ["06 0a 69 ffffffffffffffff7f", "2.25.9223372036854775807"],
  ] as const
) {
  Deno.test(`DerElement.objectId() of ${hex} is ${expected}`, () =>
    assert.equal(der(hex).objectId(), expected));
}

Deno.test("DerElement.children() returns all values in it, including long ones, and child() one of them", () => {
  const long = `04 81 80 ${"ab".repeat(128)}`;
  const sequence = der(`30 81 88 0201 05 ${long} 0400`);
  assert.deepEqual(sequence.children().map(({ tag, content }) => [tag, content.length]), [[2, 1], [4, 128], [
    4,
    0,
  ]]);
  assert.equal(sequence.child(2).tag, 4);
  refused(() => sequence.child(3));
});

Deno.test("readElement() reads lengths of up to four octets, and ignores trailing bytes", () => {
  for (const head of ["04 02", "04 81 02", "04 82 0002", "04 83 000002", "04 84 00000002"]) {
    assert.equal(der(`${head} abcd ffff`).octets().toHex(), "abcd", head);
  }
});

for (
  const [what, hex] of [
    ["nothing", ""],
    ["only a tag", "04"],
    ["a tag of several octets", "1f 01 00"],
    ["an indefinite length", "04 80 00"],
    ["a length of five octets", "04 85 0000000001 00"],
    ["a length of two octets with one missing", "04 82 00"],
    ["a value shorter than its length", "04 02 01"],
  ] as const
) {
  Deno.test(`readElement() refuses ${what}`, () => refused(() => der(hex)));
}

Deno.test("DerElement refuses malformed numbers and object identifiers", () => {
  refused(() => der("04 01 00").integer());
  refused(() => der("02 00").integer());
  refused(() => der("02 06 000000000001").integer());
  refused(() => der("04 01 2a").objectId());
});

Deno.test("DerElement refuses identifiers and nesting that would take more than linear time", () => {
  const inside = (depth: number): Uint8Array =>
    depth === 0 ? encodeElement(0x04, Uint8Array.of(7)) : encodeElement(0x24, inside(depth - 1));
  assert.equal(readElement(inside(8)).octets().toHex(), "07");
  refused(() => readElement(inside(9)).octets());
  refused(() => readElement(inside(5000)).octets());
  refused(() => readElement(encodeElement(0x06, new Uint8Array(257).fill(0x81))).objectId());
});

for (const length of [0, 1, 127, 128, 255, 256, 65_536]) {
  Deno.test(`encodeElement() of ${length} octets round-trips through readElement(), with the shortest length`, () => {
    const content = new Uint8Array(length).fill(7);
    const element = readElement(encodeElement(0x04, content));
    assert.deepEqual([element.tag, element.content.toHex()], [0x04, content.toHex()]);
    assert.ok(element.hasShortestLength());
  });
}

Deno.test("DerElement.hasShortestLength() detects lengths that are not minimal", () => {
  for (const head of ["04 81 02", "04 82 0002"]) {
    assert.equal(der(`${head} abcd`).hasShortestLength(), false, head);
  }
});
