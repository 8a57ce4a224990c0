import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { acceptsConnections, PortWatch } from "../../src/workers/port_watch.ts";

Deno.test("acceptsConnections() reports whether a listener exists and accepts connections", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  assert.equal(await acceptsConnections({ address: "0.0.0.0", port: address.port }), true);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await acceptsConnections({ address: "127.0.0.1", port: address.port }), false);

  // This socket listens, so that the system completes connections, but the test accepts none.
  using deaf = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  assert.equal(await acceptsConnections({ address: "127.0.0.1", port: deaf.addr.port }, 50), false);
});

/** Runs a watch with given outcomes of its checks. @returns Its reports, with the number of the check. */
async function watched(answers: readonly boolean[], listeners: readonly string[]): Promise<string[]> {
  const told: string[] = [];
  const all = new Map(listeners.map((name) => [name, { address: name, port: 1 }]));
  let look = 0;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const watch = new PortWatch({
    current: () => all.get(listeners[look] ?? ""),
    onUnresponsive: ({ address }) => told.push(`${address} after ${look + 1}`),
    probe: () => Promise.resolve(answers[look] ?? true),
    everyMs: 1,
  });
  const timer = setInterval(() => {
    // A check runs in microtasks, which end before the next timer.
    if (++look >= answers.length) resolve();
  }, 1);
  await over;
  clearInterval(timer);
  watch.close();
  return told;
}

Deno.test("PortWatch reports only a listener that is silent twice in a row", async () => {
  const same = ["a", "a", "a", "a", "a", "a"];
  assert.deepEqual(await watched([true, false, true, false, true, true], same), []);
  assert.deepEqual((await watched([false, false, false, false, true, true], same)).length > 0, true);
  assert.deepEqual(await watched([false, false], ["a", "b"]), []);
});
