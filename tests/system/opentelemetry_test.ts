/** Data about the service that the runtime sends to an OpenTelemetry collector (docs/monitoring.md). */
import assert from "node:assert/strict";
import { inTime } from "../fixtures/deadline.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

/** Starts a collector that accepts everything, and records path and text of each message. */
function startCollector() {
  const taken: (readonly [path: string, text: string])[] = [];
  let changed = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    taken.push([new URL(request.url).pathname, JSON.stringify(await request.json())]);
    changed.resolve();
    changed = Promise.withResolvers();
    return Response.json({});
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    taken,
    /** Waits until the messages to a path contain this text, and returns them all. */
    async has(path: string, text: string): Promise<string> {
      for (;;) {
        const all = taken.filter(([at]) => at === path).map(([, sent]) => sent).join("\n");
        if (all.includes(text)) return all;
        await changed.promise;
      }
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("OpenTelemetry: log lines arrive with their levels if enabled, and stay on the console", async () => {
  await using collector = startCollector();
  await using site = await createSite();
  const service = runAuthserver(["serve", "--config", site.main], {
    env: {
      OTEL_DENO: "true",
      OTEL_DENO_CONSOLE: "replace",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BLRP_SCHEDULE_DELAY: "200",
    },
  });
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  const wrong: readonly [string, string] = [ALICE[0], "CANARY-wrong"];
  const reply = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, { as: wrong });
  assert.equal(reply.status, 401);
  const sent = await inTime(collector.has("/v1/logs", "service started"), "the log lines");
  assert.match(sent, /"severityText":"INFO","body":\{"stringValue":"\S+ info +service started /);
  await inTime(collector.has("/v1/logs", "request answered"), "the line of the request");
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0);
  assert.equal(service.printed.match(/ info +service started /g)?.length, 1, "printed once");
  assert(!collector.taken.some(([, text]) => text.includes("CANARY")));
});

Deno.test("OpenTelemetry: spans and metrics of requests arrive, log lines and passwords do not", async () => {
  await using collector = startCollector();
  await using site = await createSite();
  const service = runAuthserver(["serve", "--config", site.main], {
    env: {
      OTEL_DENO: "true",
      OTEL_SERVICE_NAME: "authserver",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      // Deno 2.9.6 may hang if it ends while it exports metrics; soon after the first export it exports none.
      OTEL_METRIC_EXPORT_INTERVAL: "3000",
      OTEL_BSP_SCHEDULE_DELAY: "200",
    },
  });
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  const url = `https://localhost:${port}/rest/auth/HPC`;
  const reply = await ask(url, site.authority.certificate, { as: ALICE, body: { serverPath: "" } });
  assert.equal(reply.status, 200);
  await collector.has("/v1/metrics", "http.server.request.duration");
  // Waits for the spans before the end: a busy machine may not send them later.
  const spans = await collector.has("/v1/traces", "/rest/auth/HPC");
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, "and nothing of it keeps the service from its end");
  assert.match(spans, /"http\.response\.status_code","value":\{"stringValue":"200"\}/);
  assert(collector.taken.some(([, text]) => text.includes('"authserver"')));
  const everything = collector.taken.map(([, text]) => text).join("\n");
  for (const secret of [ALICE[1], btoa(ALICE.join(":")), String(reply.json().secret)]) {
    assert(!everything.includes(secret));
  }
  assert.deepEqual(collector.taken.filter(([path]) => path === "/v1/logs"), []);
});
