import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { uploadStream } from "../../src/edge/upload_stream.ts";

/** A request without a connection, whose events a test makes, and what the stream of its body asks of the gate. */
function setting() {
  const asked: string[] = [];
  const request = new IncomingMessage(new Socket());
  const gate = { wantBody: () => void asked.push("want"), pauseBody: () => void asked.push("pause") };
  const stream = uploadStream(request, gate, () => void asked.push("begin"));
  return { asked, request, stream };
}
const part = (text: string) => new TextEncoder().encode(text);
const turn = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("uploadStream() asks for nothing before it is read, and begins once", async () => {
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

Deno.test("uploadStream() pauses the body with each part that nobody waits for, and wants it with each read", async () => {
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

Deno.test("uploadStream() ends well with the request, whatever comes after that", async () => {
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
  Deno.test(`uploadStream() fails if ${event} comes before the end, whatever comes after that`, async () => {
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

Deno.test("uploadStream() pauses the body once when it is given up, and takes no more", async () => {
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
