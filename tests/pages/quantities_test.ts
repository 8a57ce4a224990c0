import assert from "node:assert/strict";
import { plain } from "../../src/pages/markup.ts";
import { distance, moment, size, zone } from "../../src/pages/quantities.ts";

const SIZES: readonly (readonly [number, string])[] = [
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1 KiB"],
  [1536, "1.5 KiB"],
  [123_456, "121 KiB"],
  [1024 ** 2 - 1, "1 MiB"],
  [200 * 1024 ** 2, "200 MiB"],
  [1.25 * 1024 ** 3, "1.3 GiB"],
  [3 * 1024 ** 4, "3 TiB"],
  [5000 * 1024 ** 4, "5000 TiB"],
];
Deno.test("size() formats bytes in the unit that gives a short number", () => {
  for (const [bytes, text] of SIZES) assert.equal(plain(size(bytes), "en"), text);
  assert.equal(plain(size(1536), "de"), "1,5 KiB");
});

Deno.test("zone() formats an offset from UTC", () => {
  for (const [minutes, text] of [[0, "UTC"], [60, "UTC+01:00"], [-210, "UTC−03:30"]] as const) {
    assert.equal(zone(minutes), text);
  }
});

Deno.test("moment() formats a time for machines, and in UTC for people", () => {
  const shown = moment(Date.UTC(2026, 2, 4, 5, 6, 7)).toString();
  assert.equal(shown, '<time datetime="2026-03-04T05:06:07.000Z">2026-03-04 05:06 UTC</time>');
});

Deno.test("distance() formats the time until or since a moment", () => {
  const hour = 3_600_000;
  for (
    const [ahead, text] of [
      [3 * 24 * hour + 1, "in 3 days"],
      [-2 * hour - 5, "2 hours ago"],
      [90_000, "in 1 minute"],
      [5, "this minute"],
      [24 * hour, "tomorrow"],
      [24 * hour - 5000, "tomorrow"],
      [7 * 24 * hour - 5000, "in 7 days"],
      [6.9 * 24 * hour, "in 6 days"],
      [-59 * 60_000, "1 hour ago"],
      [-5, "this minute"],
    ] as const
  ) assert.equal(plain(distance(1e12 + ahead, 1e12), "en"), text);
});
