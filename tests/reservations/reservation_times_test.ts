import assert from "node:assert/strict";
import fc from "fast-check";
import { readTimes } from "../../src/reservations/reservation_file.ts";

const at = (text: string) => Date.parse(text);

function times(from: string, to: string, zone = "UTC", now = "2026-01-05T12:00:00Z"): unknown {
  const result = readTimes({ from, to }, { zone, now: at(now) });
  if ("wrong" in result) return result.wrong;
  return [new Date(result.from).toISOString(), new Date(result.to).toISOString()].map((t) => t.slice(0, 16));
}

/** Start, end, zone, and both times in UTC; or which of the two is invalid. */
const TIMES: readonly (readonly [string, string, string, readonly string[] | string])[] = [
  ["2026-01-05 20:00", "2026-01-05 23:00", "UTC", ["2026-01-05T20:00", "2026-01-05T23:00"]],
  [" 2026-01-05  20:00 ", "2026-01-05 23:00", "UTC", ["2026-01-05T20:00", "2026-01-05T23:00"]],
  ["2026-01-05 20:00:00", "2026-01-05 23:00:59", "UTC", ["2026-01-05T20:00", "2026-01-05T23:00"]],
  ["2026-01-05 20:00", "2026-01-05 23:00", "Europe/Berlin", ["2026-01-05T19:00", "2026-01-05T22:00"]],
  ["2026-07-05 20:00", "2026-07-05 23:00", "Europe/Berlin", ["2026-07-05T18:00", "2026-07-05T21:00"]],
  ["2026-01-05T20:00:00+0100", "2026-01-05T23:00:00+01:00", "Asia/Tokyo", [
    "2026-01-05T19:00",
    "2026-01-05T22:00",
  ]],
  ["2026-01-05T20:00:00Z", "2026-01-06T00:00:00-0530", "Asia/Tokyo", [
    "2026-01-05T20:00",
    "2026-01-06T05:30",
  ]],
  ["2026-01-05T20:00:00+0100", "2026-01-05 23:00", "UTC", ["2026-01-05T19:00", "2026-01-05T23:00"]],
  // In Berlin, the night of 29 March 2026 lacks the hour from 2 to 3, and that of 25 October has it twice.
  ["2026-03-29 01:30", "2026-03-29 03:30", "Europe/Berlin", ["2026-03-29T00:30", "2026-03-29T01:30"]],
  ["2026-03-29 02:30", "2026-03-29 04:00", "Europe/Berlin", ["2026-03-29T01:30", "2026-03-29T02:00"]],
  ["2026-03-29 01:00", "2026-03-29 02:30", "Europe/Berlin", ["2026-03-29T00:00", "2026-03-29T01:30"]],
  ["2026-10-25 01:00", "2026-10-25 04:00", "Europe/Berlin", ["2026-10-24T23:00", "2026-10-25T03:00"]],
  ["2026-10-25 02:00", "2026-10-25 02:30", "Europe/Berlin", ["2026-10-25T00:00", "2026-10-25T01:30"]],
  ["2026-03-28 22:00", "2026-03-29 22:00", "Europe/Berlin", ["2026-03-28T21:00", "2026-03-29T20:00"]],
  // Times of day, with noon as the present.
  ["20:00", "23:00", "UTC", ["2026-01-05T20:00", "2026-01-05T23:00"]],
  ["08:00", "11:00", "UTC", ["2026-01-06T08:00", "2026-01-06T11:00"]],
  ["11:00", "13:00", "UTC", ["2026-01-05T11:00", "2026-01-05T13:00"]],
  ["22:00", "02:00", "UTC", ["2026-01-05T22:00", "2026-01-06T02:00"]],
  ["13:00", "12:30", "UTC", ["2026-01-04T13:00", "2026-01-05T12:30"]],
  ["2026-1-5 8:00", "2026-01-05 9:5", "UTC", ["2026-01-05T08:00", "2026-01-05T09:05"]], // as `SimpleDateFormat`
  ["8:00", "9:00", "UTC", ["2026-01-06T08:00", "2026-01-06T09:00"]],
  ["20:00", "20:00", "UTC", ["2026-01-04T20:00", "2026-01-05T20:00"]],
  ["20:00", "23:00", "Asia/Tokyo", ["2026-01-05T11:00", "2026-01-05T14:00"]],
  ["2026-02-01 20:00", "06:00", "UTC", ["2026-02-01T20:00", "2026-02-02T06:00"]],
  ["20:00", "2026-02-02 06:00", "UTC", ["2026-02-01T20:00", "2026-02-02T06:00"]],
  ["2026-01-05 23:00", "2026-01-05 20:00", "UTC", "to"],
  ["2026-01-05 20:00", "2026-01-05 20:00", "UTC", "to"],
  ["2026-02-30 20:00", "2026-03-05 20:00", "UTC", "from"],
  ["2026-01-05 20:00", "2026-01-05 25:00", "UTC", "to"],
  ["2026-01-05 20:00", "24:00", "UTC", "to"],
  ["2026-13-05 20:00", "2026-01-05 20:00", "UTC", "from"],
  ["2026-01-05", "2026-01-06", "UTC", "from"],
  ["05.01.2026 20:00", "2026-01-06 20:00", "UTC", "from"],
  ["2026-01-05T20:00:00", "2026-01-06 20:00", "UTC", "from"],
  ["2026-01-05T20:00:00+25:00", "2026-01-06 20:00", "UTC", "from"],
  ["", "", "UTC", "from"],
  ["2026-01-05 20:00", "", "UTC", "to"],
];

Deno.test("readTimes() reads all formats, in the server's zone", () => {
  for (const [from, to, zone, expected] of TIMES) {
    assert.deepEqual(times(from, to, zone), expected, `${from} – ${to} ${zone}`);
  }
});

Deno.test("readTimes() finds the same occurrence of a time of day at any moment within it", () => {
  for (
    const now of [
      "2026-01-05T22:00:00Z",
      "2026-01-05T23:59:00Z",
      "2026-01-06T00:00:00Z",
      "2026-01-06T01:59:00Z",
    ]
  ) {
    assert.deepEqual(times("22:00", "02:00", "UTC", now), ["2026-01-05T22:00", "2026-01-06T02:00"], now);
  }
  assert.deepEqual(times("22:00", "02:00", "UTC", "2026-01-06T02:00:00Z"), [
    "2026-01-06T22:00",
    "2026-01-07T02:00",
  ]);
});

Deno.test("readTimes() of times of day ends after it begins, within 26 hours", () => {
  const clock = fc.tuple(fc.nat(23), fc.nat(59)).map((t) =>
    t.map((n) => String(n).padStart(2, "0")).join(":")
  );
  const zone = fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
  );
  const moment = fc.integer({ min: at("2026-01-01T00:00Z"), max: at("2027-01-01T00:00Z") });
  fc.assert(fc.property(clock, clock, zone, moment, (from, to, zone, now) => {
    const result = readTimes({ from, to }, { zone, now });
    assert.ok(!("wrong" in result));
    assert.ok(result.from < result.to && result.to > now && result.to - now <= 26 * 3600_000);
    assert.ok(result.to - result.from <= 26 * 3600_000);
  }));
});
