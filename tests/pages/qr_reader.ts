/** Independent reader of QR codes: it finds patterns by their position, and corrects no errors. */
import assert from "node:assert/strict";

/** Drawn QR code. */
interface Drawn {
  readonly size: number;
  isDark(row: number, column: number): boolean;
}

/** Format information for level M and masks 0 to 7 (ISO/IEC 18004, table C.1). */
export const FORMATS = [0x5412, 0x5125, 0x5e7c, 0x5b4b, 0x45f9, 0x40ce, 0x4f97, 0x4aa0];
/** Version information, from version 7 (table D.1). */
export const VERSIONS = [
  [0x07c94, 0x085bc, 0x09a99, 0x0a4d3, 0x0bbf6, 0x0c762, 0x0d847],
  [0x0e60d, 0x0f928, 0x10b78, 0x1145d, 0x12a17, 0x13532, 0x149a6],
].flat();

/** Blocks of level M, versions 1 to 20: `count x data codewords` + error correction codewords (table 9). */
const BLOCKS = `1x16+10 1x28+16 1x44+26 2x32+18 2x43+24 4x27+16 4x31+18 2x38,2x39+22 3x36,2x37+22 4x43,1x44+26
1x50,4x51+30 6x36,2x37+22 8x37,1x38+22 4x40,5x41+24 5x41,5x42+24 7x45,3x46+28 10x46,1x47+28 9x43,4x44+26 3x44,11x45+26
3x41,13x42+26`.split(/\s+/);

/** Returns the text of a code in UTF-8. @throws {AssertionError} If the code is invalid. */
export function read(code: Drawn): string {
  const version = (code.size - 17) / 4;
  const mask = FORMATS.indexOf(formatOf(code, "corner"));
  assert(mask >= 0, "format");
  assert.equal(formatOf(code, "edges"), FORMATS[mask], "the second copy of the format");
  if (version >= 7) {
    for (const turned of [false, true]) assert.equal(versionOf(code, turned), VERSIONS[version - 7]);
  }
  const bytes = codewords(code, version, mask);
  const [layout = "", correction = ""] = (BLOCKS[version - 1] ?? "").split("+");
  const lengths = layout.split(",").flatMap((part) => {
    const [count = 0, length = 0] = part.split("x").map(Number);
    return Array.from({ length: count }, () => length);
  });
  const data = blocks(bytes, lengths, Number(correction)).flat();
  const bits = data.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  assert.equal(bits.slice(0, 4), "0100", "bytes");
  const countBits = version < 10 ? 8 : 16;
  const length = parseInt(bits.slice(4, 4 + countBits), 2);
  const text = Uint8Array.from(
    { length },
    (_, i) => parseInt(bits.slice(4 + countBits + 8 * i, 12 + countBits + 8 * i), 2),
  );
  const rest = bits.slice(4 + countBits + 8 * length);
  assert.match(rest, /^0{0,11}(?:1110110000010001)*(?:11101100)?$/, "what fills it up");
  return new TextDecoder("utf-8", { fatal: true }).decode(text);
}

/** Returns the data codewords of each block, after a check by its error correction codewords. */
function blocks(bytes: readonly number[], lengths: readonly number[], correction: number): number[][] {
  assert.equal(bytes.length, lengths.reduce((sum, length) => sum + length + correction, 0));
  const all: number[][] = lengths.map(() => []);
  let at = 0;
  for (let i = 0; i < Math.max(...lengths); i++) {
    for (const [n, length] of lengths.entries()) if (i < length) all[n]?.push(bytes[at++] ?? 0);
  }
  for (let i = 0; i < correction; i++) for (const block of all) block.push(bytes[at++] ?? 0);
  for (const block of all) {
    for (let root = 1, i = 0; i < correction; root = times(root, 2), i++) {
      assert.equal(block.reduce((sum, codeword) => times(sum, root) ^ codeword, 0), 0, "a syndrome");
    }
  }
  return all.map((block) => block.slice(0, -correction));
}

/** Returns the product in the field of 256 elements, bit by bit. */
function times(a: number, b: number): number {
  let result = 0;
  for (let bit = 7; bit >= 0; bit--) {
    result = result << 1 ^ (result & 0x80 ? 0x11d : 0);
    if (b >> bit & 1) result ^= a;
  }
  return result;
}

/** Returns the format information, highest bit first (figure 25). */
function formatOf(code: Drawn, where: "corner" | "edges"): number {
  const end = code.size - 1;
  const corner = [[8, 0], [8, 1], [8, 2], [8, 3], [8, 4], [8, 5], [8, 7], [8, 8], [7, 8], [5, 8], [4, 8], [
    3,
    8,
  ], [2, 8]]
    .concat([[1, 8], [0, 8]]);
  const edges = [0, 1, 2, 3, 4, 5, 6].map((i) => [end - i, 8])
    .concat([7, 6, 5, 4, 3, 2, 1, 0].map((i) => [8, end - i]));
  return numberOf(code, where === "corner" ? corner : edges);
}

/** Returns the version information, highest bit first, from one of its two blocks (figure 27). */
function versionOf(code: Drawn, turned: boolean): number {
  const places = Array.from({ length: 18 }, (_, i) => {
    const [near, far] = [5 - Math.floor(i / 3), code.size - 9 - i % 3];
    return turned ? [far, near] : [near, far];
  });
  return numberOf(code, places);
}

function numberOf(code: Drawn, places: readonly (readonly number[])[]): number {
  return places.reduce((bits, [row = 0, column = 0]) => bits * 2 + Number(code.isDark(row, column)), 0);
}

/** Returns the codewords outside all patterns, without the mask. */
function codewords(code: Drawn, version: number, mask: number): number[] {
  const { size } = code;
  let bits = "";
  for (let pair = 0, right = size - 1; right > 0; pair++, right = right === 8 ? 5 : right - 2) {
    for (let i = 0; i < size; i++) {
      const row = pair % 2 === 0 ? size - 1 - i : i;
      for (const column of [right, right - 1]) {
        if (isPattern(row, column, size, version)) continue;
        bits += code.isDark(row, column) === isInverted(mask, row, column) ? "0" : "1";
      }
    }
  }
  return (bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2));
}

function isPattern(row: number, column: number, size: number, version: number): boolean {
  if (row === 6 || column === 6) return true;
  if ((row < 9 && column < 9) || (row < 9 && column >= size - 8) || (row >= size - 8 && column < 9)) {
    return true;
  }
  if (version >= 7 && ((row < 6 && column >= size - 11) || (column < 6 && row >= size - 11))) return true;
  if (version === 1) return false;
  const middles = ALIGNMENT[version - 2] ?? [];
  const near = (at: number) => middles.find((middle) => Math.abs(at - middle) <= 2);
  const [down, right] = [near(row), near(column)];
  const last = middles.at(-1);
  return down !== undefined && right !== undefined &&
    !(down === 6 && right === 6) && !(down === 6 && right === last) && !(down === last && right === 6);
}

/** Positions of alignment patterns in versions 2 to 20 (table E.1). */
const ALIGNMENT =
  `6,18 6,22 6,26 6,30 6,34 6,22,38 6,24,42 6,26,46 6,28,50 6,30,54 6,32,58 6,34,62 6,26,46,66 6,26,48,70
6,26,50,74 6,30,54,78 6,30,56,82 6,30,58,86 6,34,62,90`.split(/\s+/).map((each) =>
    each.split(",").map(Number)
  );

/** Reports whether a mask inverts a module (table 10). */
function isInverted(mask: number, i: number, j: number): boolean {
  const product = i * j;
  switch (mask) {
    case 0:
      return (i + j) % 2 === 0;
    case 1:
      return i % 2 === 0;
    case 2:
      return j % 3 === 0;
    case 3:
      return (i + j) % 3 === 0;
    case 4:
      return ((i >> 1) + Math.trunc(j / 3)) % 2 === 0;
    case 5:
      return product % 2 + product % 3 === 0;
    case 6:
      return (product % 2 + product % 3) % 2 === 0;
    default:
      return (product % 3 + (i + j) % 2) % 2 === 0;
  }
}
