import assert from "node:assert/strict";
import { type ChannelMessage, pack, unpack } from "../../src/workers/channel_message.ts";

const bytes = new Uint8Array([1, 2, 3]);
const request: ChannelMessage = {
  kind: "request",
  id: 2 ** 20 + 7,
  method: "PUT",
  path: "/rest/access/HPC/x",
  query: "a=1",
  client: { address: "192.0.2.1" },
  fields: ["Accept", "text/html", "Accept", "*/*"],
  body: bytes,
  streamed: false,
};

const messages: readonly ChannelMessage[] = [
  request,
  { ...request, id: 0, fields: [], client: { address: "" }, body: null, streamed: true },
  { kind: "response", id: 1, status: 200, fields: ["Vary", "Accept"], body: "text", streamed: false },
  { kind: "response", id: 2, status: 204, fields: [], body: null, streamed: true },
  { kind: "chunk", id: 3, bytes },
  { kind: "end", id: 4 },
  { kind: "broken", id: 5 },
  { kind: "credit", id: 6, chunks: 16 },
  { kind: "cancel", id: 7 },
  { kind: "gone", id: 8 },
];
for (const message of messages) {
  Deno.test(`unpack() gives back what pack() took, once it has crossed: ${message.kind} ${message.id}`, () => {
    assert.deepEqual(unpack(structuredClone(pack(message))), message);
  });
}
