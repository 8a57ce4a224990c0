import assert from "node:assert/strict";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { HeaderList } from "../../src/model/http_message.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const tls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [authority.certificate],
  minVersion: "TLSv1.2" as const,
  maxVersion: "TLSv1.3" as const,
};

/** No test waits for that. */
const NEVER_MS = 3_600_000;

Deno.test("HttpsEdge.drain() waits for nothing where no request is under way", async () => {
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
