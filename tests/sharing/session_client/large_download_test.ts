import assert from "node:assert/strict";
import { LONG } from "../../long/results.ts";
import { Site } from "../site.ts";

const MIB = 1024 ** 2;

/** Size of the file: 256 MiB in a normal run, 2 GiB with `AUTHSERVER_LONG_TESTS=1`. */
const SIZE = (LONG ? 2048 : 256) * MIB;

/** Bytes of resident memory that the process may grow by; the simulated daemon lives in it as well. */
const ALLOWED = 50_000_000;

Deno.test(`DaemonSession downloads ${SIZE / MIB} MiB in constant memory`, async () => {
  await using site = await Site.open();
  const path = `${site.root}/d/sparse`;
  using file = await Deno.open(path, { create: true, write: true });
  await file.truncate(SIZE);
  const fetch = async (length: number) => {
    using session = await site.session("d/sparse");
    let bytes = 0;
    let rss = 0;
    const stream = await session.download(path, { first: 0, length, done: () => {} });
    for await (const chunk of stream) {
      bytes += chunk.length;
      rss = Math.max(rss, Deno.memoryUsage().rss);
    }
    assert.equal(bytes, length);
    return rss;
  };
  // What the engine takes for its first garbage is not what is measured.
  const before = await fetch(64 * MIB);
  const after = await fetch(SIZE);
  assert.ok(after - before < ALLOWED, `resident memory grew by ${after - before} bytes`);
});
