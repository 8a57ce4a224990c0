import assert from "node:assert/strict";
import { once } from "node:events";
import type { TlsConnection } from "../../src/outgoing/open_tls.ts";
import { TlsStream } from "../../src/outgoing/tls_stream.ts";

Deno.test("TlsStream ends with an error, whatever was thrown where there is no connection", async () => {
  for (const thrown of ["refused", new Error("refused")]) {
    const stream = new TlsStream(() => Promise.reject(thrown), 60_000);
    const [error] = await once(stream, "error");
    assert(error instanceof Error);
    assert.equal(error.message, "refused");
    assert.equal(stream.opened, false);
  }
});

/** A connection on which nothing comes. */
function silent() {
  const end = Promise.withResolvers<undefined>();
  const connection: TlsConnection = {
    read: () => end.promise,
    write: () => Promise.resolve(),
    close: () => end.resolve(undefined),
  };
  return connection;
}

Deno.test("TlsStream tells that nothing moves for so long, and of no time that was not set", async () => {
  const stream = new TlsStream(() => Promise.resolve(silent()), 60_000);
  const told: string[] = [];
  stream.on("timeout", () => told.push("early"));
  stream.setTimeout(0);
  stream.write("x");
  await new Promise((resolve) => setTimeout(resolve)); // a timer of no time would be over
  assert.deepEqual(told, []);
  stream.setTimeout(1);
  await once(stream, "timeout");
  stream.destroy();
});

Deno.test("TlsStream keeps no listener of a request that has ended", () => {
  const stream = new TlsStream(() => Promise.resolve(silent()), 60_000);
  for (let request = 0; request < 20; request++) {
    const listener = () => {};
    stream.setTimeout(60_000, listener);
    stream.setTimeout(0, listener);
  }
  assert.equal(stream.listenerCount("timeout"), 0);
  stream.destroy();
});
