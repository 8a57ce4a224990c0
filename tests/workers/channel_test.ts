import { inTime, until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type Handler, HeaderList, type HttpRequest } from "../../src/model/http_message.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { CoreChannel } from "../../src/workers/core_channel.ts";
import { EdgeChannel } from "../../src/workers/edge_channel.ts";
import { CHUNK_BYTES } from "../../src/workers/wire.ts";

const GET: HttpRequest = {
  method: "GET",
  path: "/",
  query: "",
  headers: new HeaderList(),
  client: { address: "192.0.2.1" },
  body: null,
};
const NEVER = new AbortController().signal;

/** Runs a test with both ends of a channel; `answer` answers its requests. */
async function withChannel(
  answer: Handler,
  test: (channel: CoreChannel, edge: EdgeChannel) => Promise<void>,
) {
  const { port1, port2 } = new MessageChannel();
  const edge = new EdgeChannel(port1, answer, SILENT);
  const channel = new CoreChannel(port2);
  try {
    await test(channel, edge);
  } finally {
    channel.close();
    port1.close();
  }
}

/** Returns a stream of numbered chunks, and the count of chunks that were read. */
function source(count: number, size: number) {
  const state = { taken: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (state.taken === count) controller.close();
      else controller.enqueue(new Uint8Array(size).fill(state.taken++ % 251));
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { state, stream };
}

async function digest(stream: ReadableStream<Uint8Array>): Promise<[number, number]> {
  let [length, sum] = [0, 0];
  for await (const part of stream) {
    length += part.length;
    for (const byte of part) sum = (sum * 31 + byte) % 1_000_003;
  }
  return [length, sum];
}

function asStream(body: unknown): ReadableStream<Uint8Array> {
  assert(body instanceof ReadableStream);
  return body;
}

Deno.test("a channel transfers a request to the core and its answer back", async () => {
  const answer: Handler = (request) =>
    Promise.resolve({
      status: 201,
      headers: new HeaderList(["X-Path", request.path, ...request.headers.fields]),
      body: "text",
    });
  await withChannel(answer, async (channel) => {
    const replies = await Promise.all(
      ["/a", "/b"].map((path) =>
        channel.call({ ...GET, path, headers: new HeaderList(["X-H", "1"]) }, NEVER)
      ),
    );
    assert.deepEqual(
      replies.map(({ headers }) => headers.fields),
      [["X-Path", "/a", "X-H", "1"], ["X-Path", "/b", "X-H", "1"]],
    );
    assert.equal(replies[0]?.status, 201);
    assert.equal(replies[0]?.body, "text");
  });
});

Deno.test("a channel transfers streamed bodies unchanged in both directions", async () => {
  const answer: Handler = (request) =>
    Promise.resolve({ status: 200, headers: new HeaderList(), body: request.body });
  await withChannel(answer, async (channel) => {
    const expected = await digest(source(40, 100_001).stream);
    const reply = await channel.call({ ...GET, method: "PUT", body: source(40, 100_001).stream }, NEVER);
    assert.deepEqual(await digest(asStream(reply.body)), expected);
  });
});

Deno.test("a channel does not transfer the memory of upload chunks away from their producer", async () => {
  const pool = Buffer.from("0123456789");
  const parts = [0, 2, 4, 6, 8].map((at) => pool.subarray(at, at + 2));
  const answer: Handler = (request) =>
    Promise.resolve({ status: 200, headers: new HeaderList(), body: request.body });
  await withChannel(answer, async (channel) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    const reply = await channel.call({ ...GET, method: "PUT", body }, NEVER);
    assert.equal(await new Response(asStream(reply.body)).text(), "0123456789");
    assert.equal(pool.toString(), "0123456789");
  });
});

Deno.test("a channel sends no more of a stream than its reader has granted", async () => {
  const { state, stream } = source(1_000, CHUNK_BYTES);
  await withChannel(
    () => Promise.resolve({ status: 200, headers: new HeaderList(), body: stream }),
    async (channel) => {
      const reply = await channel.call(GET, NEVER);
      const reader = asStream(reply.body).getReader();
      const READ = 40; // each read grants one more chunk, up to the limit
      for (let i = 0; i < READ; i++) await reader.read();
      // After another call, the sender has sent everything that it may send unread.
      await channel.call(GET, NEVER).catch(() => {});
      assert.equal((state.taken - READ) * CHUNK_BYTES, 1024 * 1024);
      await reader.cancel();
    },
  );
});

Deno.test("a channel bounds the unread bytes of many streams together, and frees them again", async () => {
  const streams = 100;
  const sources = Array.from({ length: streams }, () => source(1_000, 1_000));
  const answer: Handler = ({ path }) =>
    Promise.resolve({
      status: 200,
      headers: new HeaderList(),
      body: sources[Number(path.slice(1))]?.stream ?? null,
    });
  await withChannel(answer, async (channel) => {
    const READ = 30;
    const open = async (at: number) => {
      const reader = asStream((await channel.call({ ...GET, path: `/${at}` }, NEVER)).body).getReader();
      for (let i = 0; i < READ; i++) await reader.read();
      await channel.call({ ...GET, path: "/none" }, NEVER);
      return reader;
    };
    const readers = [];
    for (let at = 0; at < streams; at++) readers.push(await open(at));
    const ahead = sources.reduce((sum, { state }) => sum + state.taken - READ, 0);
    assert.equal(ahead, (4 * 1024 * 1024) / CHUNK_BYTES, "4 MiB may be sent unasked, and nothing else");
    for (const reader of readers) await reader.cancel();

    const again = source(1_000, 1_000);
    sources[0] = again;
    await (await open(0)).cancel();
    assert(again.state.taken > READ + 8, "one alone is sent ahead as before");
  });
});

Deno.test("a channel cancels the source when its reader stops", async () => {
  const { state, stream } = source(1_000, CHUNK_BYTES);
  const answer: Handler = ({ path }) =>
    Promise.resolve({ status: 200, headers: new HeaderList(), body: path === "/data" ? stream : "pong" });
  await withChannel(answer, async (channel) => {
    const reply = await channel.call({ ...GET, path: "/data" }, NEVER);
    await asStream(reply.body).cancel();
    await channel.call(GET, NEVER);
    await channel.call(GET, NEVER);
    assert.equal(state.cancelled, true);
  });
});

Deno.test("a channel aborts the answer when its source fails", async () => {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
    },
    pull(controller) {
      controller.error(new Error("disk gone"));
    },
  });
  await withChannel(
    () => Promise.resolve({ status: 200, headers: new HeaderList(), body: stream }),
    async (channel) => {
      const reply = await channel.call(GET, NEVER);
      await assert.rejects(digest(asStream(reply.body)), Deno.errors.UnexpectedEof);
    },
  );
});

Deno.test("a channel notifies the core when the client has left", async () => {
  let aborted = () => {};
  const noticed = new Promise<void>((resolve) => aborted = resolve);
  const answer: Handler = (_request, signal) =>
    new Promise(() => {
      signal.addEventListener("abort", aborted);
    });
  await withChannel(answer, async (channel) => {
    const client = new AbortController();
    const reply = channel.call(GET, client.signal);
    client.abort();
    await assert.rejects(reply);
    await noticed;
    await channel.idle();
  });
});

Deno.test("a channel cancels answers for an edge that died, and the sources of their bodies", async () => {
  const { state, stream } = source(1_000, CHUNK_BYTES);
  const aborted = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<void>();
  const answer: Handler = async ({ path, body }, signal) => {
    if (path === "/archive") return { status: 200, headers: new HeaderList(), body: stream };
    signal.addEventListener("abort", () => aborted.resolve());
    asked.resolve();
    await digest(asStream(body)).catch((error) => broken.reject(error));
    return { status: 204, headers: new HeaderList(), body: null };
  };
  await withChannel(answer, async (channel, edge) => {
    await channel.call({ ...GET, path: "/archive" }, NEVER); // its answer is never read
    const upload = new ReadableStream<Uint8Array>(); // never ends
    channel.call({ ...GET, method: "PUT", path: "/upload", body: upload }, NEVER).catch(() => {});
    await asked.promise;
    edge.abort();
    await inTime(aborted.promise, "the end of the upload");
    await assert.rejects(inTime(broken.promise, "the end of its body"), { code: "ERR_CLIENT_GONE" });
    assert.equal(state.cancelled, true);
  });
});

Deno.test("a channel reports a failed answer instead of hanging", async () => {
  await withChannel(() => Promise.reject(new Error("defect")), async (channel) => {
    await assert.rejects(channel.call(GET, NEVER));
    await channel.idle();
  });
});

Deno.test("a channel fails requests that wait for a core that died, and all later ones", async () => {
  await withChannel(() => new Promise(() => {}), async (channel) => {
    const waiting = channel.call(GET, NEVER);
    channel.abort();
    await assert.rejects(waiting, { code: "ERR_SERVICE_STARTING" });
    await assert.rejects(channel.call(GET, NEVER), { code: "ERR_SERVICE_STARTING" });
  });
});

Deno.test("a channel cancels an upload when the core died", async () => {
  const { state, stream } = source(1_000_000, 1_000);
  const begun = Promise.withResolvers<void>();
  const answer: Handler = async ({ body }) => {
    await asStream(body).getReader().read();
    begun.resolve();
    return await new Promise(() => {});
  };
  await withChannel(answer, async (channel) => {
    const waiting = channel.call({ ...GET, method: "PUT", body: stream }, NEVER);
    await begun.promise;
    channel.abort();
    await assert.rejects(waiting, { code: "ERR_SERVICE_STARTING" });
    await until(() => state.cancelled, { everyMs: 1 });
  });
});

Deno.test("a channel is idle only after the last request under way is answered", async () => {
  const answers: (() => void)[] = [];
  const answer: Handler = () =>
    new Promise((resolve) => {
      answers.push(() => resolve({ status: 204, headers: new HeaderList(), body: null }));
    });
  await withChannel(answer, async (channel) => {
    const replies = [channel.call(GET, NEVER), channel.call(GET, NEVER)];
    await until(() => answers.length >= 2, { everyMs: 1 });
    let isIdle = false;
    const idle = channel.idle().then(() => isIdle = true);
    answers[0]?.();
    await replies[0];
    await new Promise((resolve) => setTimeout(resolve)); // by now the promise would have resolved
    assert.equal(isIdle, false);
    answers[1]?.();
    await replies[1];
    await idle;
  });
});

Deno.test("a channel sends large pieces in parts of 64 KiB, so that others need not wait for them", async () => {
  const { stream } = source(3, 200_000);
  await withChannel(
    () => Promise.resolve({ status: 200, headers: new HeaderList(), body: stream }),
    async (channel) => {
      const reply = await channel.call(GET, NEVER);
      const lengths: number[] = [];
      for await (const { length } of asStream(reply.body)) lengths.push(length);
      assert.deepEqual(lengths.slice(0, 4), [65_536, 65_536, 65_536, 3392]);
      assert.equal(Math.max(...lengths), 65_536);
    },
  );
});
