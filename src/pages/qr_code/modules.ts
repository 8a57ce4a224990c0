import type { Version } from "./versions.ts";

/** The modules of a QR code: which are dark, and which belong to patterns that readers look for. */
export class Modules {
  readonly size: number;
  readonly #dark: Uint8Array;
  readonly #taken: Uint8Array;

  /** With all patterns of a version, and without data and format. */
  constructor({ number, size, alignment }: Version) {
    this.size = size;
    this.#dark = new Uint8Array(size * size);
    this.#taken = new Uint8Array(size * size);
    for (let i = 0; i < size; i++) {
      this.#pattern(6, i, i % 2 === 0);
      this.#pattern(i, 6, i % 2 === 0);
    }
    for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]] as const) this.#finder(row, column);
    const last = alignment.length - 1;
    for (const [i, row] of alignment.entries()) {
      for (const [j, column] of alignment.entries()) {
        const inFinder = (i === 0 && (j === 0 || j === last)) || (i === last && j === 0);
        if (!inFinder) this.#rings(row, column, 2);
      }
    }
    if (number >= 7) this.#version(number);
    this.format(0);
  }

  isDark(row: number, column: number): boolean {
    return this.#dark[row * this.size + column] === 1;
  }

  isTaken(row: number, column: number): boolean {
    return this.#taken[row * this.size + column] === 1;
  }

  set(row: number, column: number, dark: boolean): void {
    this.#dark[row * this.size + column] = dark ? 1 : 0;
  }

  /** Inverts what is not taken, where a mask says so. */
  invert(mask: (row: number, column: number) => boolean): void {
    for (let row = 0; row < this.size; row++) {
      for (let column = 0; column < this.size; column++) {
        if (!this.isTaken(row, column) && mask(row, column)) {
          this.set(row, column, !this.isDark(row, column));
        }
      }
    }
  }

  /** Writes the number of the mask beside the finders, twice, with the level of correction, M (7.9). */
  format(mask: number): void {
    const bits = withCheck(mask, 10, 0b101_0011_0111) ^ 0b101_0100_0001_0010;
    const end = this.size - 1;
    for (let i = 0; i < 15; i++) {
      const dark = (bits >> i & 1) === 1;
      const [along, across] = i < 6 ? [i, 8] : i < 8 ? [i + 1, 8] : i === 8 ? [8, 7] : [8, 14 - i];
      this.#pattern(along, across, dark);
      if (i < 8) this.#pattern(8, end - i, dark);
      else this.#pattern(end - 14 + i, 8, dark);
    }
    this.#pattern(this.size - 8, 8, true);
  }

  #pattern(row: number, column: number, dark: boolean): void {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.set(row, column, dark);
    this.#taken[row * this.size + column] = 1;
  }

  /** Rings around a middle, each second of them dark. */
  #rings(row: number, column: number, radius: number): void {
    for (let down = -radius; down <= radius; down++) {
      for (let right = -radius; right <= radius; right++) {
        const ring = Math.max(Math.abs(down), Math.abs(right));
        this.#pattern(row + down, column + right, radius === 2 ? ring !== 1 : ring !== 2 && ring !== 4);
      }
    }
  }

  #finder(row: number, column: number): void {
    this.#rings(row, column, 4);
  }

  /** Writes the number of the version beside two finders (7.10). */
  #version(number: number): void {
    const bits = withCheck(number, 12, 0b1_1111_0010_0101);
    for (let i = 0; i < 18; i++) {
      const dark = (bits >> i & 1) === 1;
      const [near, far] = [Math.floor(i / 3), this.size - 11 + i % 3];
      this.#pattern(near, far, dark);
      this.#pattern(far, near, dark);
    }
  }
}

/** A number with so many bits behind it that tell whether it was read well (BCH code; annexes C and D). */
function withCheck(number: number, length: number, generator: number): number {
  let rest = number << length;
  for (let bit = 31 - Math.clz32(rest); bit >= length; bit = 31 - Math.clz32(rest)) {
    rest ^= generator << (bit - length);
  }
  return number << length | rest;
}
