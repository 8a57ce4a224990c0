import assert from "node:assert/strict";
import { markup } from "../../../src/pages/markup.ts";
import { qrPicture } from "../../../src/pages/qr_code/qr_picture.ts";
import { read } from "./qr_reader.ts";

Deno.test("qrPicture() draws a code, with the light around it that readers need", () => {
  const link = "https://auth.example.org:9000/rest/access/HPC/iuWHabkNKMfD4DFu8qFiLv";
  const svg = markup`${qrPicture(link, `QR code of "a" & b`)}`.toString();
  assert.match(svg, /aria-label="QR code of &#34;a&#34; &#38; b"/);
  const side = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const dark = new Set<string>();
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    assert(Number(x) + Number(width) <= side - 4, "nothing is drawn in the light around it");
    for (let i = 0; i < Number(width); i++) dark.add(`${y} ${Number(x) + i}`);
  }
  const code = {
    size: side - 8,
    isDark: (row: number, column: number) => dark.has(`${row + 4} ${column + 4}`),
  };
  assert.equal(read(code), link);
  assert.doesNotMatch(svg.replace(/M\d+ \d+h\d+v1H\d+z/g, ""), /M|style|script/);
});

Deno.test("qrPicture() is nothing where no code holds the text", () => {
  assert.equal(qrPicture("u".repeat(667), "x"), undefined);
});
