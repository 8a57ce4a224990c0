import assert from "node:assert/strict";
import { saturation, throughput } from "./closed_network.ts";

const near = (found: number, expected: number) =>
  assert.ok(Math.abs(found - expected) < 1e-9 * expected, `${found}, expected ${expected}`);

Deno.test("saturation() is the rate of the slowest station, including its copies", () => {
  const stations = [{ name: "edge", demandMs: 4, copies: 4 }, { name: "database", demandMs: 2 }];
  assert.deepEqual(saturation(stations), { rate: 500, first: "database" });
  assert.deepEqual(saturation([{ name: "edge", demandMs: 4 }, { name: "database", demandMs: 2 }]), {
    rate: 250,
    first: "edge",
  });
});

Deno.test("throughput() of one client is that of sequential requests", () => {
  near(throughput([{ name: "a", demandMs: 3 }, { name: "b", demandMs: 2 }], 1), 200);
  near(throughput([{ name: "a", demandMs: 3, copies: 5 }, { name: "b", demandMs: 0 }], 1), 1000 / 3);
});

Deno.test("throughput() of two clients at two equal stations is two thirds of their saturation", () => {
  // Each station is idle in one of the states 2+0, 1+1 and 0+2, which are equally likely.
  near(throughput([{ name: "a", demandMs: 1 }, { name: "b", demandMs: 1 }], 2), 2000 / 3);
  // The rate is the same if requests go to one of two copies.
  near(throughput([{ name: "a", demandMs: 2, copies: 2 }], 2), 2000 / 3);
});

Deno.test("throughput() grows with clients up to saturation, and never beyond", () => {
  const stations = [{ name: "edge", demandMs: 4, copies: 3 }, { name: "core", demandMs: 1, copies: 3 }, {
    name: "database",
    demandMs: 1,
  }];
  const { rate } = saturation(stations);
  let last = 0;
  for (const clients of [1, 2, 4, 16, 64, 256, 4096]) {
    const now = throughput(stations, clients);
    assert.ok(now > last && now <= rate, `${clients} clients: ${now} of ${rate}`);
    last = now;
  }
  assert.ok(last > 0.99 * rate);
});
