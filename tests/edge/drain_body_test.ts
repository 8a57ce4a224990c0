import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { Discards } from "../../src/edge/drain_body.ts";

const PART = new Uint8Array(64 * 1024);
const MIB = 1024 ** 2;

/** A client that sends without end whenever it is read. */
class Client implements Disposable {
  readonly #request = new IncomingMessage(new Socket());
  wanted = false;
  bytes = 0;

  constructor(discards: Discards) {
    void discards.drainBody(this.#request, {
      wantBody: () => this.wanted = true,
      pauseBody: () => this.wanted = false,
    });
  }

  /** What arrives is all read as long as it is wanted. @returns Whether it was. */
  send(): boolean {
    if (!this.wanted) return false;
    this.bytes += PART.length;
    this.#request.emit("data", PART);
    return true;
  }

  end(): void {
    this.#request.emit("end");
  }

  [Symbol.dispose](): void {
    this.#request.emit("close");
  }
}

Deno.test("Discards reads 16 MiB for nobody and 2 MiB a second, however many are still sending", () => {
  let now = 0;
  const discards = new Discards(() => now);
  using all = new DisposableStack();
  const clients = Array.from({ length: 500 }, () => all.use(new Client(discards)));
  const total = () => clients.reduce((sum, { bytes }) => sum + bytes, 0);
  while (clients.filter((client) => client.send()).length > 0);
  assert.equal(total(), 16 * MIB);
  now += 1_000;
  const late = all.use(new Client(discards));
  while (late.send());
  assert.equal(late.bytes, 2 * MIB);
});

Deno.test("Discards gives back what a request that ended did not use", () => {
  const discards = new Discards(() => 0);
  for (let i = 0; i < 1000; i++) {
    using client = new Client(discards);
    assert.equal(client.wanted, true, `client ${i}`);
    client.end();
  }
});
