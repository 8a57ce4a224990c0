import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { BodyDrainer, uploadStream } from "../../src/edge/request_body.ts";

/** Creates a request without a connection, and records the calls of its body stream to the gate. */
function setting() {
  const asked: string[] = [];
  const request = new IncomingMessage(new Socket());
  const gate = { wantBody: () => void asked.push("want"), pauseBody: () => void asked.push("pause") };
  const stream = uploadStream(request, gate, () => void asked.push("begin"));
  return { asked, request, stream };
}
const part = (text: string) => new TextEncoder().encode(text);
const turn = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("uploadStream() requests no body before it is read, and begins once", async () => {
  const { asked, request, stream } = setting();
  await turn();
  assert.deepEqual(asked, []);
  const reader = stream.getReader();
  const first = reader.read();
  await turn();
  assert.deepEqual(asked, ["want", "begin"]);
  request.emit("data", part("a"));
  assert.deepEqual((await first).value, part("a"));
  const second = reader.read();
  await turn();
  request.emit("data", part("b"));
  assert.deepEqual((await second).value, part("b"));
  assert.equal(asked.filter((what) => what === "begin").length, 1);
});

Deno.test("uploadStream() pauses the body at each part without a pending read, and resumes it at each read", async () => {
  const { asked, request, stream } = setting();
  const reader = stream.getReader();
  const first = reader.read();
  await turn();
  asked.length = 0;
  request.emit("data", part("a"));
  request.emit("data", part("b"));
  await first;
  assert.equal(asked.at(-1), "pause", "b waits");
  assert.deepEqual((await reader.read()).value, part("b"));
  const third = reader.read();
  await turn();
  assert.equal(asked.at(-1), "want");
  request.emit("data", part("c"));
  await third;
});

Deno.test("uploadStream() ends with the request, whatever events follow", async () => {
  const { request, stream } = setting();
  const reader = stream.getReader();
  const first = reader.read();
  await turn();
  request.emit("data", part("a"));
  await first;
  const last = reader.read();
  request.emit("end");
  request.emit("data", part("late"));
  request.emit("error", new Error("late"));
  request.emit("close");
  assert.equal((await last).done, true);
  await reader.closed;
});

for (const event of ["error", "close"]) {
  Deno.test(`uploadStream() fails if ${event} precedes the end, whatever events follow`, async () => {
    const { request, stream } = setting();
    const reader = stream.getReader();
    const first = reader.read();
    await turn();
    request.emit(event, new Error("reset"));
    request.emit("data", part("late"));
    request.emit("end");
    await assert.rejects(first, { code: "ERR_CLIENT_GONE" });
    await assert.rejects(reader.closed, { code: "ERR_CLIENT_GONE" });
  });
}

Deno.test("uploadStream() pauses the body once when cancelled, and reads no more", async () => {
  const { asked, request, stream } = setting();
  const reader = stream.getReader();
  const first = reader.read();
  await turn();
  request.emit("data", part("a"));
  await first;
  asked.length = 0;
  await reader.cancel();
  assert.deepEqual(asked, ["pause"]);
  request.emit("data", part("late"));
  request.emit("end");
  request.emit("close");
  assert.deepEqual(asked, ["pause"]);
});

const PART = new Uint8Array(64 * 1024);
const MIB = 1024 ** 2;

/** Client that sends endlessly while the gate reads. */
class Client implements Disposable {
  readonly #request = new IncomingMessage(new Socket());
  wanted = false;
  bytes = 0;

  constructor(drainer: BodyDrainer) {
    void drainer.drainBody(this.#request, {
      wantBody: () => this.wanted = true,
      pauseBody: () => this.wanted = false,
    });
  }

  /** Sends a part if the gate wants the body. @returns Whether it did. */
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

Deno.test("BodyDrainer drains 16 MiB and then 2 MiB a second, however many clients send", () => {
  let now = 0;
  const drainer = new BodyDrainer(() => now);
  using all = new DisposableStack();
  const clients = Array.from({ length: 500 }, () => all.use(new Client(drainer)));
  const total = () => clients.reduce((sum, { bytes }) => sum + bytes, 0);
  while (clients.filter((client) => client.send()).length > 0 && total() <= 64 * MIB);
  assert.equal(total(), 16 * MIB);
  now += 1_000;
  const late = all.use(new Client(drainer));
  while (late.send() && late.bytes <= 64 * MIB);
  assert.equal(late.bytes, 2 * MIB);
});

Deno.test("BodyDrainer returns the unused part of an ended request to its budget", () => {
  const drainer = new BodyDrainer(() => 0);
  for (let i = 0; i < 1000; i++) {
    using client = new Client(drainer);
    assert.equal(client.wanted, true, `client ${i}`);
    client.end();
  }
});

Deno.test("BodyDrainer ignores a request that is complete or destroyed", async () => {
  const drainer = new BodyDrainer(() => 0);
  const arrived = new IncomingMessage(new Socket());
  arrived.complete = true;
  const gone = new IncomingMessage(new Socket());
  gone.destroy();
  for (const request of [arrived, gone]) {
    const asked: string[] = [];
    await drainer.drainBody(request, {
      wantBody: () => asked.push("want"),
      pauseBody: () => asked.push("pause"),
    });
    assert.deepEqual(asked, []);
  }
});
