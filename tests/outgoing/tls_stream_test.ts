import assert from "node:assert/strict";
import { once } from "node:events";
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
