import assert from "node:assert/strict";
import { penalty } from "../../../src/pages/qr_code/masks.ts";

/** A square of modules, dark ones as `#`. */
function drawn(rows: readonly string[]) {
  return { size: rows.length, isDark: (row: number, column: number) => rows[row]?.[column] === "#" };
}

const rows = (count: number, row: (i: number) => string) => Array.from({ length: count }, (_, i) => row(i));
const turned = (square: readonly string[]) =>
  square.map((_, column) => square.map((row) => row[column]).join(""));
const FINDERS = rows(11, () => "#.###.#....");

/** Points by ISO/IEC 18004, 7.8.3, counted by hand. */
const SQUARES: readonly (readonly [what: string, square: readonly string[], points: number])[] = [
  // 42 lines of 21 - 2, 400 squares of 3, and ten steps of 5 % from half.
  ["all light", rows(21, () => ".".repeat(21)), 42 * 19 + 400 * 3 + 100],
  ["all dark", rows(21, () => "#".repeat(21)), 42 * 19 + 400 * 3 + 100],
  [
    "dark and light by turns",
    rows(21, (i) => (i % 2 === 0 ? "#.".repeat(11) : ".#".repeat(11)).slice(0, 21)),
    0,
  ],
  // Columns of one colour, half and half: runs of 4 and below cost nothing.
  ["runs of four", rows(4, () => "#.#."), 0],
  ["runs of five, and one dark too many for half", rows(5, () => "#.#.#"), 5 * 3 + 2 * 10],
  // 11 finders of 40, 11 columns of 11 - 2, 50 squares of 3.
  ["finders", FINDERS, 11 * 40 + 11 * 9 + 50 * 3],
  [
    "finders from the other side",
    FINDERS.map((row) => [...row].reverse().join("")),
    11 * 40 + 11 * 9 + 50 * 3,
  ],
  ["finders that stand", turned(FINDERS), 11 * 40 + 11 * 9 + 50 * 3],
];
for (const [what, square, points] of SQUARES) {
  Deno.test(`penalty() of ${what} is ${points}`, () => assert.equal(penalty(drawn(square)), points));
}
