import assert from "node:assert/strict";
import fc from "fast-check";
import { parseRate } from "../../src/model/rate.ts";

const GOOD: readonly (readonly [string, number])[] = [
  ["10M", 10485760],
  ["10m", 10485760],
  ["10 m", 10485760],
  ["10 MB/s", 10485760],
  ["200M", 209715200],
  ["100 gig/sec", 107374182400],
  ["5k", 5120],
  ["5K", 5120],
  ["250000", 250000],
  [" 5 ", 5],
  [" 5\tK ", 5120],
  ["0", 0],
  ["0M", 0],
  ["007", 7],
  ["9007199254740991", 9007199254740991],
];

const BAD = [
  ...[
    "",
    " ",
    "M",
    "abc",
    "1.5M",
    "1,5M",
    "100 Tera",
    "-5",
    "-5M",
    "+5",
    "0x10",
    "1e6",
    "5 5",
    "5 000",
    "٣M",
  ],
  ...[
    "9007199254740992",
    "8388608G",
    "9".repeat(400),
    "9".repeat(99),
    `5M${" ".repeat(200)}`,
    "Infinity",
    "NaN",
  ],
];

Deno.test("parseRate() reads bytes per second", () => {
  for (const [text, bytesPerSecond] of GOOD) {
    assert.deepEqual(parseRate(text), { kind: "rate", bytesPerSecond }, text);
  }
});

Deno.test("parseRate() refuses text that is not a rate", () => {
  for (const text of BAD) assert.equal(parseRate(text).kind, "invalid", text);
});

Deno.test("parseRate() of a number with unit is the number times a power of 1024", () => {
  const units = fc.constantFrom(["", 0], ["k", 1], ["K", 1], ["m", 2], ["M", 2], ["g", 3], ["G", 3]);
  fc.assert(fc.property(fc.nat(1_000_000), units, fc.constantFrom("", " "), (count, [unit, power], blank) => {
    const text = unit === "" ? String(count) : `${count}${blank}${unit}`;
    assert.deepEqual(parseRate(text), { kind: "rate", bytesPerSecond: count * 1024 ** Number(power) });
  }));
});

Deno.test("parseRate() of any text is a safe whole number from 0, or invalid", () => {
  const pieces = fc.array(fc.constantFrom(..."0123456789kKmMgG -+.e\n"), { maxLength: 25 }).map((p) =>
    p.join("")
  );
  fc.assert(fc.property(fc.oneof(pieces, fc.string()), (text) => {
    const rate = parseRate(text);
    if (rate.kind === "rate") {
      assert.ok(Number.isSafeInteger(rate.bytesPerSecond) && rate.bytesPerSecond >= 0);
      assert.ok(/^\s*[0-9]/.test(text));
    }
  }));
});
