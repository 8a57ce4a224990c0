import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { MetricsListener } from "../../src/rooms/metrics_listener.ts";
import { roomsSoFar, startedRoom } from "../system/worker_spy.ts";

/** A listener with one page, and what it logs. */
async function listen() {
  const from = roomsSoFar();
  const lines: string[] = [];
  const listener = await MetricsListener.start({ host: "127.0.0.1", port: 0 }, {
    page: () => Promise.resolve("one_metric 1\n"),
    log: createLogger((line) => lines.push(line)),
    resolve: (host) => Promise.resolve([host]),
  });
  return { listener, lines, room: await startedRoom("metrics", from) };
}

Deno.test("MetricsListener brings its page, and listens no more once it is closed", async () => {
  const { listener, lines, room } = await listen();
  const url = `http://127.0.0.1:${listener.port}/metrics`;
  assert.equal(await (await fetch(url)).text(), "one_metric 1\n");
  await listener.close();
  await room.ended;
  await assert.rejects(fetch(url));
  assert.deepEqual(lines, []);
});

Deno.test("MetricsListener says nothing of a room that dies while it ends: nobody starts another", async () => {
  const { listener, lines, room } = await listen();
  // A request that is under way keeps it from ending at once.
  const scraper = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await scraper.write(new TextEncoder().encode("GET /metrics HTTP/1.1\r\nHost: localhost\r\n"));
  const closed = listener.close();
  room.kill();
  await closed;
  await room.ended;
  assert.deepEqual(lines, []);
  scraper.close();
});

Deno.test("MetricsListener keeps no process alive once it is closed", async () => {
  const at = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url));
  const code = `import { MetricsListener } from ${at("rooms/metrics_listener.ts")};
    import { SILENT } from ${at("logging/logger.ts")};
    const page = () => Promise.resolve("");
    const resolve = (host) => Promise.resolve([host]);
    const listener = await MetricsListener.start({ host: "127.0.0.1", port: 0 }, { page, log: SILENT, resolve });
    await listener.close();`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--unstable-worker-options", "--unstable-net", code],
    signal: AbortSignal.timeout(60_000),
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
});
