import type { Modules } from "./modules.ts";

/** Which modules a mask inverts, so that a code has no large areas and nothing that looks like its finders (7.8.2). */
export const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => (row * column) % 2 + (row * column) % 3 === 0,
  (row, column) => ((row * column) % 2 + (row * column) % 3) % 2 === 0,
  (row, column) => ((row + column) % 2 + (row * column) % 3) % 2 === 0,
];

/** A mask by its number. */
export function mask(number: number): (row: number, column: number) => boolean {
  const found = MASKS[number];
  if (found === undefined) throw new RangeError("masks have numbers from 0 to 7");
  return found;
}

/** What looks like a finder with the light beside it, from either side. */
const FINDERS = ["10111010000", "00001011101"];

/** How hard a code is to read; of several the one with the lowest number is taken (7.8.3). */
export function penalty(modules: Pick<Modules, "size" | "isDark">): number {
  const { size } = modules;
  const line = (of: (i: number) => boolean) =>
    Array.from({ length: size }, (_, i) => of(i) ? "1" : "0").join("");
  let points = 0;
  let dark = 0;
  for (let i = 0; i < size; i++) {
    const row = line((column) => modules.isDark(i, column));
    points += penaltyOfLine(row) + penaltyOfLine(line((row) => modules.isDark(row, i)));
    dark += row.replaceAll("0", "").length;
  }
  for (let row = 1; row < size; row++) {
    for (let column = 1; column < size; column++) {
      const here = modules.isDark(row, column);
      const isSquare = modules.isDark(row - 1, column) === here && modules.isDark(row, column - 1) === here &&
        modules.isDark(row - 1, column - 1) === here;
      if (isSquare) points += 3;
    }
  }
  return points + 10 * Math.floor(Math.abs(20 * dark - 10 * size * size) / (size * size));
}

function penaltyOfLine(line: string): number {
  let points = 0;
  for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2;
  for (const finder of FINDERS) {
    for (let at = line.indexOf(finder); at >= 0; at = line.indexOf(finder, at + 1)) points += 40;
  }
  return points;
}
