import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent } from "node:https";
import { backPressureOf } from "../../../src/edge/back_pressure.ts";
import { SharingSystem } from "./sharing_system.ts";

const MIB = 1024 ** 2;

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

Deno.test("clients can download a shared file whole and in part, and ask for its size", async () => {
  await Deno.utime(`${sharing.data}/d/ten.txt`, 1_700_000_000, 1_700_000_000);
  const id = await sharing.share("d/ten.txt");
  const whole = await sharing.fetch(id);
  assert.deepEqual([whole.status, whole.text], [200, "0123456789"]);
  const { headers } = whole;
  assert.equal(headers["content-length"], "10");
  assert.equal(headers["accept-ranges"], "bytes");
  assert.equal(headers["last-modified"], "Tue, 14 Nov 2023 22:13:20 GMT");
  assert.equal(headers["content-disposition"], 'attachment; filename="ten.txt"');
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.match(String(headers["content-security-policy"]), /sandbox/);
  const etag = headers.etag ?? "";

  const head = await sharing.fetch(id, { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", "10"]);

  const ranges: [headers: Record<string, string>, status: number, range: string | undefined, text: string][] =
    [
      [{ Range: "bytes=2-4" }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=7-" }, 206, "bytes 7-9/10", "789"],
      [{ Range: "bytes=-3" }, 206, "bytes 7-9/10", "789"],
      [{ Range: "bytes=8-500" }, 206, "bytes 8-9/10", "89"],
      [{ Range: "bytes=0-1,5-6" }, 200, undefined, "0123456789"],
      [{ Range: "bytes=9-3" }, 200, undefined, "0123456789"],
      [{ Range: "bytes=10-" }, 416, "bytes */10", ""],
      [{ Range: "bytes=-0" }, 416, "bytes */10", ""],
      [{ Range: "bytes=2-4", "If-Range": etag }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=2-4", "If-Range": '"another"' }, 200, undefined, "0123456789"],
      [{ Range: "bytes=2-4", "If-Range": "Tue, 14 Nov 2023 22:13:20 GMT" }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=2-4", "If-Range": "Tue, 14 Nov 2023 22:13:21 GMT" }, 200, undefined, "0123456789"],
      [{ "If-None-Match": etag }, 304, undefined, ""],
      [{ "If-Match": '"another"' }, 412, undefined, ""],
    ];
  for (const [headers, status, range, text] of ranges) {
    const answer = await sharing.fetch(id, { headers });
    const what = JSON.stringify(headers);
    assert.deepEqual(
      [answer.status, answer.headers["content-range"], answer.text],
      [status, range, text],
      what,
    );
    if (status !== 304) assert.equal(answer.headers["content-length"], String(text.length), what);
  }
  await sharing.sessionsClosed();
});

Deno.test("clients can list a shared directory, and download files below it", async () => {
  const id = await sharing.share("d");
  const page = await sharing.fetch(id);
  assert.match(page.headers["content-type"] ?? "", /^text\/html/);
  const json = JSON.parse((await sharing.fetch(id, { headers: { Accept: "application/json" } })).text);
  assert.deepEqual(json.entries.map(({ name }: { name: string }) => name), ["sub", "ten.txt"]);
  assert.equal((await sharing.fetch(`${id}/sub/x.dat`)).text, "x");
  for (const path of ["nothing", "sub/../../d2", "%2e%2e/canary", "sub%2fx.dat", "ten.txt/", "%00"]) {
    assert.equal((await sharing.fetch(`${id}/${path}`)).status, 404, path);
  }
  await sharing.sessionsClosed();
});

Deno.test("a client that reads slowly slows the daemon down, and still gets everything", async () => {
  const size = 48 * MIB;
  await sparse(`${sharing.data}/d/big`, size);
  const id = await sharing.share("d/big");
  const slow = await sharing.open(id);
  // A paused TLS socket still reads from the system: the test must hold its client back as the edge does.
  const backPressure = backPressureOf(slow.socket);
  backPressure.stop();
  // While another client downloads everything, the daemon could have finished the slow client, too.
  assert.equal(await lengthOf(await sharing.open(id)), size);
  const { sessions } = sharing.system.daemon();
  const open = () =>
    sessions.filter(({ ended, commands }) => !ended && commands.some((line) => /^RETR/.test(line))).length;
  // The other client has all its bytes shortly before its session ends.
  await until(() => open() <= 1, { everyMs: 5 });
  assert.equal(open(), 1);
  backPressure.start();
  assert.equal(await lengthOf(slow), size);
  await sharing.sessionsClosed();
});

Deno.test("a client that disconnects ends the daemon's session, and its use is recorded as incomplete", async () => {
  await sparse(`${sharing.data}/d/big`, 48 * MIB);
  const id = await sharing.share("d/big");
  const before = sharing.system.log.length;
  const response = await sharing.open(id);
  await once(response, "data");
  response.destroy();
  await sharing.sessionsClosed();
  await sharing.system.logged(/share use ended .*complete=false/, before);
  assert.equal(sharing.system.log.slice(before).filter((line) => / error /.test(line)).join("\n"), "");
});

Deno.test("a download continues while the configuration is reloaded", async () => {
  const size = 48 * MIB;
  const { system } = sharing;
  await sparse(`${sharing.data}/d/big`, size);
  const id = await sharing.share("d/big");
  const response = await sharing.open(id);
  const backPressure = backPressureOf(response.socket);
  backPressure.stop();
  system.service.hangUp();
  await system.logged(/configuration reloaded/);
  assert.equal((await sharing.fetch(await sharing.share("d/ten.txt"))).text, "0123456789", "by the new core");
  backPressure.start();
  assert.equal(await lengthOf(response), size);
  await sharing.sessionsClosed();
});

Deno.test("a download fails if its file shrinks meanwhile", async () => {
  const id = await sharing.share("d/ten.txt");
  sharing.system.daemon().sessionFaults.queue.push({ kind: "cut-data", after: 4, then: "226" });
  await assert.rejects(sharing.fetch(id));
});

Deno.test("exactly one of 50 parallel clients gets a one-time share", async () => {
  const id = await sharing.share("d/ten.txt", { onetime: true });
  const agent = new Agent({ keepAlive: false, maxSockets: 50 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => sharing.fetch(id, { agent })));
  const good = answers.filter(({ status }) => status === 200);
  assert.deepEqual(good.map(({ text }) => text), ["0123456789"]);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 404]);
  assert.equal((await sharing.fetch(id)).status, 404);
});

Deno.test("a one-time share is not used up by HEAD, 304, 416 or a daemon that fails", async () => {
  const id = await sharing.share("d/ten.txt", { onetime: true });
  const { headers } = await sharing.fetch(id, { method: "HEAD" });
  assert.equal((await sharing.fetch(id, { headers: { "If-None-Match": headers.etag ?? "" } })).status, 304);
  assert.equal((await sharing.fetch(id, { headers: { Range: "bytes=99-" } })).status, 416);
  sharing.system.daemon().sessionFaults.queue.push({ kind: "reply", to: "RETR", reply: "500 out of order" });
  assert.equal((await sharing.fetch(id)).status, 502);
  assert.equal((await sharing.fetch(id)).text, "0123456789");
});

async function sparse(path: string, size: number): Promise<void> {
  using file = await Deno.open(path, { create: true, write: true });
  await file.truncate(size);
}

async function lengthOf(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const part of response) bytes += part.length;
  return bytes;
}
