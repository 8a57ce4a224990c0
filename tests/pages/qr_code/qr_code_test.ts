import assert from "node:assert/strict";
import fc from "fast-check";
import { qrCode } from "../../../src/pages/qr_code/qr_code.ts";
import { read } from "./qr_reader.ts";

/** What zbarimg reads as `https://authserver.example`: dark modules as `#`. */
const DRAWN = `
#######.####.#....#######
#.....#.#.###.#.#.#.....#
#.###.#.#..###.#..#.###.#
#.###.#..##..##.#.#.###.#
#.###.#.####.##.#.#.###.#
#.....#..#...##.#.#.....#
#######.#.#.#.#.#.#######
...........#.####........
#..######...#.##.#..#.###
####.#.#..##..##.#.#####.
#..#.##.#.##...#..####..#
.##.##...###..###.#..####
#.#...#.#.#.#..#..##....#
###.#..#..#.#..###..#..#.
##.#.##...#..#.#.##.#####
#...##...##...#...##.##.#
#.....####.###.######.##.
........##......#...#.##.
#######.#.#####.#.#.#...#
#.....#.##...#.##...#....
#.###.#.#..##.#######....
#.###.#.####.###.##....##
#.###.#....##..#.#..#####
#.....#..#.##.##.#.##.###
#######.#..#....###..#..#
`;

function drawn(text: string): string {
  const code = qrCode(text);
  assert(code !== undefined);
  const row = (i: number) =>
    Array.from({ length: code.size }, (_, j) => code.isDark(i, j) ? "#" : ".").join("");
  return Array.from({ length: code.size }, (_, i) => row(i)).join("\n");
}

Deno.test("qrCode() draws what readers of others have read", () => {
  assert.equal(drawn("https://authserver.example"), DRAWN.trim());
});

Deno.test("qrCode() holds every text up to 666 bytes, by a reader that shares nothing with it", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.webUrl({ withQueryParameters: true }),
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef/:"), maxLength: 666 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const code = qrCode(text);
      if (code === undefined) return new TextEncoder().encode(text).length > 666;
      return read(code) === text.toWellFormed();
    }),
    { numRuns: 50 },
  );
});

Deno.test("qrCode() holds what just fits and what just does not into each size", () => {
  for (
    const bytes of [
      0,
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
    ]
  ) {
    for (const length of [bytes, bytes + 1]) {
      const code = qrCode("u".repeat(length));
      assert.equal(code && read(code), "u".repeat(length));
    }
  }
  assert.equal(qrCode("u".repeat(667)), undefined);
});
