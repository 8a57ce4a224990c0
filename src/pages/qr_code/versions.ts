/**
 * Of each version of QR codes from 1 to 20, with error correction of level M: codewords for correction in a block, and
 * blocks (ISO/IEC 18004, table 9). The largest holds a text of 666 bytes.
 */
const BLOCKS: readonly (readonly [correction: number, blocks: number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
  [28, 10],
  [28, 11],
  [26, 13],
  [26, 14],
  [26, 16],
];

/** A size of QR codes. */
export interface Version {
  readonly number: number;
  /** Modules of a side. */
  readonly size: number;
  /** Codewords in all, for data and for correction. */
  readonly codewords: number;
  /** Codewords for correction in each block. */
  readonly correction: number;
  readonly blocks: number;
  /** Bits of the number that says how long the text is. */
  readonly countBits: number;
  /** Rows and columns in which the middle of an alignment pattern can be. */
  readonly alignment: readonly number[];
}

/** All of them, from small to large. */
const VERSIONS: readonly Version[] = BLOCKS.map(([correction, blocks], i) => {
  const number = i + 1;
  const size = 17 + 4 * number;
  const alignment = alignmentOf(number, size);
  // Of the square: finders with what separates them and the format beside them, timing, alignment, version.
  const inCorners = 3 * 64 + 31;
  const timing = 2 * (size - 16);
  const patterns = alignment.length === 0 ? 0 : alignment.length ** 2 - 3;
  const onTiming = alignment.length === 0 ? 0 : 2 * (alignment.length - 2);
  const versions = number < 7 ? 0 : 36;
  const free = size ** 2 - inCorners - timing - 25 * patterns + 5 * onTiming - versions;
  return {
    number,
    size,
    codewords: Math.floor(free / 8),
    correction,
    blocks,
    countBits: number < 10 ? 8 : 16,
    alignment,
  };
});

/** The smallest version that holds a text of so many bytes; undefined if none does. */
export function versionFor(bytes: number): Version | undefined {
  return VERSIONS.find(({ codewords, correction, blocks, countBits }) =>
    4 + countBits + 8 * bytes <= 8 * (codewords - correction * blocks)
  );
}

/** From the sixth module to the seventh from the end, at the same even distance but for the first one (annex E). */
function alignmentOf(number: number, size: number): readonly number[] {
  if (number === 1) return [];
  const gaps = Math.floor(number / 7) + 1;
  const distance = 2 * Math.ceil((size - 13) / (2 * gaps));
  return [6, ...Array.from({ length: gaps }, (_, i) => size - 7 - (gaps - 1 - i) * distance)];
}
