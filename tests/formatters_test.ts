/** Tests that `Intl` formatters are shared: creating one takes milliseconds, using one microseconds. */
import assert from "node:assert/strict";
import { plain } from "../src/pages/markup.ts";
import { Text } from "../src/pages/texts.ts";
import { distance, size } from "../src/pages/quantities.ts";
import { describeReservations } from "../src/reservations/reservation.ts";

const NIGHT = { name: "night", uids: ["ann"], from: 0, to: 3600_000, rateLimit: 1, limitText: "1" };
const INSTANCES = new Text(["home", "instances"]);

/** Runs some work. @returns Number of formatters that it created. */
function formattersMadeBy(work: () => void): number {
  let made = 0;
  const counted = (member: object) =>
    new Proxy(member, {
      construct(target, given) {
        made++;
        return Reflect.construct(target as new (...given: unknown[]) => object, given);
      },
    });
  const { NumberFormat, RelativeTimeFormat, PluralRules, DateTimeFormat } = Intl;
  const real = { NumberFormat, RelativeTimeFormat, PluralRules, DateTimeFormat };
  Object.assign(Intl, Object.fromEntries(Object.entries(real).map(([name, one]) => [name, counted(one)])));
  try {
    work();
  } finally {
    Object.assign(Intl, real);
  }
  return made;
}

Deno.test("a long page, and an account with many reservations, share their formatters", () => {
  const nights = Array.from({ length: 100 }, () => NIGHT);
  const made = formattersMadeBy(() => {
    for (let count = 0; count < 100; count++) {
      for (const language of ["en", "de", "fr"] as const) {
        plain(size(count * 100), language);
        plain(distance(count * 60_000, 0), language);
        plain(INSTANCES.with({ count }), language);
      }
    }
    assert.equal(describeReservations(nights, { uid: "ann", at: 0, zone: "Europe/Berlin" }).length, 100);
  });
  assert.ok(made <= 2 * 3 + 3 + 3 + 1, `${made} formatters were made`);
});
