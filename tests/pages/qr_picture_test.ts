import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../fixtures/character.ts";
import { LONG } from "../long/results.ts";
import { markup } from "../../src/pages/markup.ts";
import { qrPicture, qrText } from "../../src/pages/qr_picture.ts";
import { read } from "./qr_reader.ts";

/** Reads the code of a picture with an independent reader. */
function readPicture(text: string, label = "x"): string | undefined {
  const picture = qrPicture(text, label);
  if (picture === undefined) return undefined;
  const svg = markup`${picture}`.toString();
  const side = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const dark = new Set<string>();
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    assert(Number(x) >= 4 && Number(y) >= 4, "the quiet zone stays light");
    assert(Number(x) + Number(width) <= side - 4, "the quiet zone stays light");
    for (let i = 0; i < Number(width); i++) dark.add(`${y} ${Number(x) + i}`);
  }
  return read({ size: side - 8, isDark: (row, column) => dark.has(`${row + 4} ${column + 4}`) });
}

Deno.test("qrPicture() draws only a code, with its label", () => {
  const link = "https://auth.example.org:9000/rest/access/HPC/iuWHabkNKMfD4DFu8qFiLv";
  const svg = markup`${qrPicture(link, `QR code of "a" & b`)}`.toString();
  assert.match(svg, /aria-label="QR code of &#34;a&#34; &#38; b"/);
  assert.doesNotMatch(svg.replace(/M\d+ \d+h\d+v1H\d+z/g, ""), /M|style|script/);
  assert.equal(readPicture(link), link);
});

Deno.test("qrPicture() encodes every text up to 666 bytes, as an independent reader confirms", () => {
  const texts = fc.oneof(
    fc.string({ unit: CHARACTER, maxLength: 300 }),
    fc.webUrl({ withQueryParameters: true }),
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef/:"), maxLength: 666 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const found = readPicture(text);
      if (found === undefined) return new TextEncoder().encode(text).length > 666;
      return found === text.toWellFormed();
    }),
    { numRuns: LONG ? 500 : 20 },
  );
});

Deno.test("qrPicture() encodes texts of the maximum length of each version, and one byte more", () => {
  // ISO/IEC 18004, table 7: bytes at level M for versions 1 to 20.
  const capacities = [
    14,
    26,
    42,
    62,
    84,
    106,
    122,
    152,
    180,
    213,
    251,
    287,
    331,
    362,
    412,
    450,
    504,
    560,
    624,
  ];
  for (const bytes of [0, ...capacities]) {
    for (const length of [bytes, bytes + 1]) {
      assert.equal(readPicture("u".repeat(length)), "u".repeat(length));
    }
  }
  assert.equal(readPicture("u".repeat(666)), "u".repeat(666));
  assert.equal(qrPicture("u".repeat(667), "x"), undefined);
});

Deno.test("qrText() draws a code of light blocks for a dark terminal", () => {
  const link = "https://auth.example.org:9000/login/device?user_code=BCDF-GHJK";
  const lines = qrText(link).split("\n");
  const isLight = (row: number, column: number) => {
    const block = lines[row >> 1]?.[column] ?? "";
    return block === "█" || block === (row % 2 === 0 ? "▀" : "▄");
  };
  const border = 2;
  const size = (lines[0]?.length ?? 0) - 2 * border;
  assert.equal(read({ size, isDark: (row, column) => !isLight(row + border, column + border) }), link);
});
