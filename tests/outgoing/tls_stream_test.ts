import assert from "node:assert/strict";
import { once } from "node:events";
import type { TlsConnection } from "../../src/outgoing/open_tls.ts";
import { TlsStream } from "../../src/outgoing/tls_stream.ts";

Deno.test("TlsStream ends with an error if the connection fails with any thrown value", async () => {
  for (const thrown of ["refused", new Error("refused")]) {
    const stream = new TlsStream(() => Promise.reject(thrown), 60_000);
    const [error] = await once(stream, "error");
    assert(error instanceof Error);
    assert.equal(error.message, "refused");
    assert.equal(stream.opened, false);
  }
});

/** Returns a connection on which nothing arrives. */
function silent() {
  const end = Promise.withResolvers<undefined>();
  const connection: TlsConnection = {
    read: () => end.promise,
    write: () => Promise.resolve(),
    close: () => end.resolve(undefined),
  };
  return connection;
}

Deno.test("TlsStream emits timeout after the set idle time, and never without one", async () => {
  const stream = new TlsStream(() => Promise.resolve(silent()), 60_000);
  const told: string[] = [];
  stream.on("timeout", () => told.push("early"));
  stream.setTimeout(0);
  stream.write("x");
  await new Promise((resolve) => setTimeout(resolve)); // a timer of 0 ms would fire
  assert.deepEqual(told, []);
  stream.setTimeout(1);
  await once(stream, "timeout");
  stream.destroy();
});

Deno.test("TlsStream keeps no listeners of ended requests", () => {
  const stream = new TlsStream(() => Promise.resolve(silent()), 60_000);
  for (let request = 0; request < 20; request++) {
    const listener = () => {};
    stream.setTimeout(60_000, listener);
    stream.setTimeout(0, listener);
  }
  assert.equal(stream.listenerCount("timeout"), 0);
  stream.destroy();
});
