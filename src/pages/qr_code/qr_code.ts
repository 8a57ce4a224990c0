import { mask, MASKS, penalty } from "./masks.ts";
import { Modules } from "./modules.ts";
import { correctionCodewords } from "./reed_solomon.ts";
import { type Version, versionFor } from "./versions.ts";

/**
 * A text as QR code (ISO/IEC 18004): in UTF-8 as bytes, of the smallest size that holds it, with error correction of level M,
 * of which 15 % can be missing. @returns `undefined` if it is longer than 666 bytes.
 */
export function qrCode(text: string): Modules | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  if (version === undefined) return undefined;
  const modules = new Modules(version);
  place(modules, interleaved(dataCodewords(bytes, version), version));
  const best = MASKS.map((_, number) => {
    modules.invert(mask(number));
    modules.format(number);
    const points = penalty(modules);
    modules.invert(mask(number));
    return { number, points };
  }).reduce((one, other) => other.points < one.points ? other : one);
  modules.invert(mask(best.number));
  modules.format(best.number);
  return modules;
}

/** The text with its length and mode, filled up (7.4). */
function dataCodewords(bytes: Uint8Array, { codewords, correction, blocks, countBits }: Version): Uint8Array {
  const all = new Uint8Array(codewords - correction * blocks);
  let at = 0;
  const add = (value: number, bits: number) => {
    for (let bit = bits - 1; bit >= 0; bit--, at++) {
      all[at >> 3] = (all[at >> 3] ?? 0) | (value >> bit & 1) << (7 - (at & 7));
    }
  };
  add(0b0100, 4);
  add(bytes.length, countBits);
  for (const byte of bytes) add(byte, 8);
  at += Math.min(4, 8 * all.length - at);
  for (let i = Math.ceil(at / 8), filler = 0xec; i < all.length; i++, filler ^= 0xec ^ 0x11) all[i] = filler;
  return all;
}

/** Blocks with their correction, the first codeword of each, then the second of each, and so on (7.6). */
function interleaved(data: Uint8Array, { codewords, correction, blocks }: Version): Uint8Array {
  const short = Math.floor(codewords / blocks) - correction;
  const shortBlocks = blocks - codewords % blocks;
  const parts = Array.from({ length: blocks }, (_, i) => {
    const first = i * short + Math.max(0, i - shortBlocks);
    return data.subarray(first, first + short + (i < shortBlocks ? 0 : 1));
  });
  const corrections = parts.map((part) => correctionCodewords(part, correction));
  const all: number[] = [];
  for (const column of [parts, corrections]) {
    const longest = Math.max(...column.map(({ length }) => length));
    for (let i = 0; i < longest; i++) {
      for (const part of column) {
        const codeword = part[i];
        if (codeword !== undefined) all.push(codeword);
      }
    }
  }
  return Uint8Array.from(all);
}

/** Fills what no pattern takes: pairs of columns from the right, upwards and downwards by turns (7.7.3). */
function place(modules: Modules, codewords: Uint8Array): void {
  let bit = 0;
  let upwards = true;
  for (let right = modules.size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5; // the column of the timing pattern belongs to no pair
    for (let i = 0; i < modules.size; i++) {
      const row = upwards ? modules.size - 1 - i : i;
      for (const column of [right, right - 1]) {
        if (modules.isTaken(row, column)) continue;
        modules.set(row, column, ((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7)) & 1) === 1);
        bit++;
      }
    }
    upwards = !upwards;
  }
}
