import assert from "node:assert/strict";
import { MetricsAnswer } from "../../src/workers/metrics_answer.ts";

Deno.test("MetricsAnswer asks for one page at a time, which all scrapers that ask meanwhile share", async () => {
  let requests = 0;
  const metrics = new MetricsAnswer(() => requests++);
  const scrape = () => metrics.answer({ method: "GET", path: "/metrics" });
  for (
    const [page, status, body] of [
      ["page 1", 200, "page 1"],
      [undefined, 503, "The metrics cannot be read now\n"],
      ["page 2", 200, "page 2"],
    ] as const
  ) {
    const pending = Array.from({ length: 1000 }, scrape);
    metrics.received(page);
    for (const response of await Promise.all(pending)) {
      assert.deepEqual([response.status, response.body], [status, body]);
    }
  }
  assert.equal(requests, 3);
});

Deno.test("MetricsAnswer knows one path and two methods", async () => {
  const metrics = new MetricsAnswer(() => assert.fail("no page is needed"));
  assert.equal((await metrics.answer({ method: "GET", path: "/" })).status, 404);
  const { status, headers } = await metrics.answer({ method: "POST", path: "/metrics" });
  assert.deepEqual([status, headers.get("Allow")], [405, "GET, HEAD"]);
});

Deno.test("MetricsAnswer ignores a page that nobody waits for", async () => {
  const metrics = new MetricsAnswer(() => {});
  metrics.received("late");
  const pending = metrics.answer({ method: "GET", path: "/metrics" });
  metrics.received("fresh");
  assert.equal((await pending).body, "fresh");
});
