import assert from "node:assert/strict";
import { Counters, DurationHistogram, sample, seriesText } from "../../src/metrics/counters.ts";
import { exposition, MetricsHandler } from "../../src/metrics/exposition.ts";
import { FAMILIES } from "../../src/metrics/families.ts";

Deno.test("exposition() writes families in order, each with help and type", () => {
  const text = exposition([
    sample("authserver_bans", { reason: "tokens" }, 2),
    sample("authserver_core_up", {}, 1),
    sample("authserver_bans", { reason: "operator" }, 0),
  ]);
  assert.equal(
    text,
    `# HELP authserver_core_up ${FAMILIES.authserver_core_up.help}
# TYPE authserver_core_up gauge
authserver_core_up 1
# HELP authserver_bans ${FAMILIES.authserver_bans.help}
# TYPE authserver_bans gauge
authserver_bans{reason="tokens"} 2
authserver_bans{reason="operator"} 0
`,
  );
});

const LABELS: readonly [what: string, value: string, written: string][] = [
  ["quotes", 'a"b', 'a\\"b'],
  ["backslashes", "a\\b", "a\\\\b"],
  ["line ends", "a\nb", "a\\nb"],
  ["other control characters", "a\r\u0000b\u0085", "ab"],
  ["braces", "a{b}", "a{b}"],
];

for (const [what, value, written] of LABELS) {
  Deno.test(`seriesText() writes labels on one line: ${what}`, () => {
    const one = sample("authserver_bans", { reason: value }, 1);
    assert.equal(seriesText(one), `authserver_bans{reason="${written}"}`);
    assert.equal(exposition([one]).split("\n").length, 4);
  });
}

Deno.test("DurationHistogram counts each duration in its bucket and all larger ones", () => {
  const histogram = new DurationHistogram();
  for (const ms of [0.4, 1, 3, 70, 1e9]) histogram.add(ms);
  const counters = new Counters();
  const labels = { route: "/a", method: "GET" };
  histogram.moveTo(counters, "authserver_request_duration_seconds", labels);
  const value = (suffix: string, le?: string) =>
    valueOf(
      counters,
      `authserver_request_duration_seconds_${suffix}{route="/a",method="GET"${le ? `,le="${le}"` : ""}}`,
    );
  assert.deepEqual(
    ["0.001", "0.0025", "0.005", "0.05", "0.1", "30", "+Inf"].map((le) => value("bucket", le)),
    [2, 2, 3, 3, 4, 4, 5],
  );
  assert.equal(value("count"), 5);
  assert.equal(value("sum"), (0.4 + 1 + 3 + 70 + 1e9) / 1000);

  // A second move adds nothing.
  histogram.moveTo(counters, "authserver_request_duration_seconds", labels);
  assert.equal(value("count"), 5);
});

Deno.test("Counters.take() resets the values", () => {
  const counters = new Counters();
  counters.count("authserver_tokens_total", { decision: "granted" });
  counters.count("authserver_tokens_total", { decision: "granted" }, 2);
  assert.deepEqual(counters.take(), [sample("authserver_tokens_total", { decision: "granted" }, 3)]);
  assert.deepEqual(counters.take(), []);
});

Deno.test("FAMILIES explain each metric, and counters end in _total", () => {
  for (const [name, { type, help }] of Object.entries(FAMILIES)) {
    assert.match(name, /^authserver_[a-z_]+$/);
    assert.match(help, /^[A-Z0-9].{10,120}[^.]$/);
    assert.equal(name.endsWith("_total"), type === "counter", name);
  }
});

Deno.test("DurationHistogram includes each bound in its bucket", () => {
  const bounds = [
    "0.001",
    "0.0025",
    "0.005",
    "0.01",
    "0.025",
    "0.05",
    "0.1",
    "0.25",
    "0.5",
    "1",
    "2.5",
    "5",
    "10",
    "30",
  ];
  const histogram = new DurationHistogram();
  for (const bound of bounds) histogram.add(1000 * Number(bound));
  histogram.add(30_001);
  const counters = new Counters();
  histogram.moveTo(counters, "authserver_request_duration_seconds", { route: "/a", method: "GET" });
  const found = [...counters.samples].flatMap(({ part, value }) =>
    typeof part === "object" ? [[part.le, value]] : []
  );
  assert.deepEqual(found, [...bounds, "+Inf"].map((le, i) => [le, i + 1]));
});

Deno.test("exposition() groups the parts of a histogram, and separates families with the same suffix", () => {
  const histogram = new DurationHistogram();
  histogram.add(1);
  const counters = new Counters();
  histogram.moveTo(counters, "authserver_request_duration_seconds", { route: "/a", method: "GET" });
  const text = exposition(counters.samples);
  assert.equal(text.split("\n")[1], "# TYPE authserver_request_duration_seconds histogram");
  assert.match(text, /^authserver_request_duration_seconds_sum\{.*\} 0\.001$/m);
  assert.match(text, /^authserver_request_duration_seconds_count\{.*\} 1$/m);
});

function valueOf(counters: Counters, text: string): number | undefined {
  return [...counters.samples].find((one) => seriesText(one) === text)?.value;
}

Deno.test("MetricsHandler requests one page at a time for all concurrent scrapers", async () => {
  let requests = 0;
  const metrics = new MetricsHandler(() => requests++);
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

Deno.test("MetricsHandler supports one path and two methods", async () => {
  const metrics = new MetricsHandler(() => assert.fail("no page is needed"));
  assert.equal((await metrics.answer({ method: "GET", path: "/" })).status, 404);
  const { status, headers } = await metrics.answer({ method: "POST", path: "/metrics" });
  assert.deepEqual([status, headers.get("Allow")], [405, "GET, HEAD"]);
});

Deno.test("MetricsHandler ignores an unrequested page", async () => {
  const metrics = new MetricsHandler(() => {});
  metrics.received("late");
  const pending = metrics.answer({ method: "GET", path: "/metrics" });
  metrics.received("fresh");
  assert.equal((await pending).body, "fresh");
});
