import assert from "node:assert/strict";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { SlowClient } from "./slow_client.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { HeaderList, type HttpResponse } from "../../src/model/http_message.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const tls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [authority.certificate],
  minVersion: "TLSv1.2" as const,
  maxVersion: "TLSv1.3" as const,
};

/** Limit that no test reaches, in milliseconds. */
const NEVER_MS = 3_600_000;

Deno.test("HttpsEdge.drain() returns at once if no request is under way", async () => {
  const edge = await HttpsEdge.start(
    { address: "127.0.0.1", port: 0, maxConnections: 0, limits: LIMITS },
    partsWith(() => Promise.resolve({ status: 204, headers: new HeaderList(), body: null })),
  );
  const url = `http://127.0.0.1:${edge.port}/`;
  await (await fetch(url)).body?.cancel();
  await inTime(edge.drain(NEVER_MS), "the end");
  await assert.rejects(fetch(url));
});

Deno.test("HttpsEdge.drain() waits for the last of several requests under way", async () => {
  const waiting: (() => void)[] = [];
  const edge = await HttpsEdge.start(
    {
      address: "127.0.0.1",
      port: 0,
      tls: { ...tls, clientCertificate: "none" },
      maxConnections: 0,
      limits: LIMITS,
    },
    partsWith(async ({ path }) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { status: 200, headers: new HeaderList(), body: `done ${path}` };
    }),
  );
  const ask = async (path: string) => {
    const response = await fetch(`https://localhost:${edge.port}${path}`, { client });
    return await response.text();
  };
  using client = Deno.createHttpClient({ caCerts: [authority.certificate] });
  const first = ask("/first");
  await until(() => waiting.length >= 1, { everyMs: 1 });
  const second = ask("/second");
  await until(() => waiting.length >= 2, { everyMs: 1 });
  let drained = false;
  const draining = edge.drain(NEVER_MS).then(() => drained = true);
  waiting[0]?.();
  assert.equal(await first, "done /first");
  assert(!drained);
  waiting[1]?.();
  assert.equal(await second, "done /second");
  await draining;
});

/** More than the kernel buffers for a client that reads nothing. */
const LENGTH = 16 * 1024 ** 2;

const ANSWERS: Readonly<Record<string, () => HttpResponse["body"]>> = {
  "a whole answer": () => new Uint8Array(LENGTH),
  "an answer sent at once": () => "x".repeat(LENGTH),
  "a streamed answer": () => ReadableStream.from([new Uint8Array(LENGTH)]),
};

const REQUESTS: Readonly<Record<string, string>> = {
  "HTTP/1.1": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "Connection: close": "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  "HTTP/1.0": "GET / HTTP/1.0\r\n\r\n",
};

/** Connection to an edge; the client has only begun to read the answer. */
interface Slow extends AsyncDisposable {
  readonly edge: HttpsEdge;
  /** Returns the bytes of the body, read as clients do: to the announced length, or to the end of the connection. */
  rest(): Promise<number>;
}

async function startSlow(
  { encrypted, request, body, length }: {
    readonly encrypted: boolean;
    readonly request: string;
    readonly body: () => HttpResponse["body"];
    readonly length: number | undefined;
  },
): Promise<Slow> {
  const edge = await HttpsEdge.start(
    {
      address: "127.0.0.1",
      port: 0,
      tls: encrypted ? { ...tls, clientCertificate: "none" } : undefined,
      maxConnections: 0,
      limits: LIMITS,
    },
    partsWith(() => {
      const fields = length === undefined ? [] : ["Content-Length", String(length)];
      return Promise.resolve({ status: 200, headers: new HeaderList(fields), body: body() });
    }),
  );
  const to = { hostname: "localhost", port: edge.port };
  const connection = encrypted
    ? await Deno.connectTls({ ...to, caCerts: [authority.certificate] })
    : await Deno.connect({ ...to, hostname: "127.0.0.1" });
  const client = await SlowClient.send(connection, request); // by then, the edge has the whole answer
  return {
    edge,
    rest: () => client.rest(length),
    [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      return edge.drain(0);
    },
  };
}

for (const encrypted of [true, false]) {
  const over = encrypted ? "TLS" : "plain HTTP";
  for (const [what, body] of Object.entries(ANSWERS)) {
    for (const [version, request] of Object.entries(REQUESTS)) {
      Deno.test(`HttpsEdge.drain() delivers the end of ${what} over ${over}, ${version}, that a slow client has not read`, async () => {
        await using slow = await startSlow({ encrypted, request, body, length: LENGTH });
        const drained = slow.edge.drain(NEVER_MS);
        assert.equal(await inTime(slow.rest(), "the rest"), LENGTH);
        await inTime(drained, "the end");
      });
    }
  }

  Deno.test(`HttpsEdge.drain() delivers an answer of unknown length over ${over} to its end`, async () => {
    const request = REQUESTS["HTTP/1.0"] ?? "";
    const body = ANSWERS["a streamed answer"] ?? (() => null);
    await using slow = await startSlow({ encrypted, request, body, length: undefined });
    const drained = slow.edge.drain(NEVER_MS);
    assert.equal(await inTime(slow.rest(), "the rest"), LENGTH);
    await inTime(drained, "the end");
  });

  Deno.test(`HttpsEdge.drain() waits for a client that never reads over ${over} until its bound`, async () => {
    const request = REQUESTS["HTTP/1.1"] ?? "";
    for (const [what, body] of Object.entries(ANSWERS)) {
      await using slow = await startSlow({ encrypted, request, body, length: LENGTH });
      const began = performance.now();
      await inTime(slow.edge.drain(200), `the end of ${what}`);
      assert(performance.now() - began >= 199, what);
    }
  });

  Deno.test(`HttpsEdge.drain() waits for no idle connection over ${over}, before or after a request`, async () => {
    await using slow = await startSlow({
      encrypted,
      request: REQUESTS["HTTP/1.1"] ?? "",
      body: () => "",
      length: 0,
    });
    const to = { hostname: "localhost", port: slow.edge.port };
    using _silent = encrypted
      ? await Deno.connectTls({ ...to, caCerts: [authority.certificate] })
      : await Deno.connect({ ...to, hostname: "127.0.0.1" });
    await inTime(slow.edge.drain(NEVER_MS), "the end");
  });
}
