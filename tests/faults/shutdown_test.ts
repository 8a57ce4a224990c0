/** Shutdown of a service while clients never finish their uploads, or read slowly. */
import assert from "node:assert/strict";
import { request } from "node:https";
import { SlowClient } from "../edge/slow_client.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { ask } from "../system/ask.ts";
import { ALICE } from "../system/running_service.ts";
import { CHECKOUT, runAuthserver, runFromSource } from "../system/service_process.ts";
import { createSharingSite, EVERYBODY } from "../system/sharing/sharing_system.ts";

const HASTY = [...runFromSource().slice(0, -1), `${CHECKOUT}tests/faults/hasty_service.ts`];

Deno.test("SIGTERM ends the process within its time limit while uploads are never finished", async () => {
  await using site = await createSharingSite();
  const service = runAuthserver([site.main], { program: HASTY });
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  const ca = site.authority.certificate;
  const at = `https://localhost:${port}/rest`;
  const share = { path: `${site.data}/d/sub/`, user: EVERYBODY, access: "DROP" };
  const made = await ask(`${at}/share/HPC`, ca, { as: ALICE, body: share });
  assert.equal(made.status, 201, made.text);
  const id = made.headers.location?.split("/").at(-1);

  const uploads = ["a", "b", "c"].map((name) => {
    const headers = { "Content-Length": "1000000" };
    const upload = request(`${at}/access/HPC/${id}/${name}`, { method: "PUT", ca, headers, agent: false });
    upload.on("error", () => {}); // the end of the service cuts the upload
    upload.write("the beginning");
    return upload;
  });
  await until(() => site.daemon().openConnections >= uploads.length);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0);
  assert.match(service.printed, /shutdown took too long, running requests are cut off ms=1000/);
  assert.doesNotMatch(service.printed, / stopped$/m, "it did not wait for the uploads");
  uploads.forEach((upload) => upload.destroy());
});

/** Maximum number of bytes of a file that the edge holds once it has received the end. */
const KEPT = 64 * 1024;

Deno.test({
  name: "SIGTERM does not cut off a download that a slow client has not read completely",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using site = await createSharingSite();
    const service = runAuthserver(["serve", "--config", site.main]);
    const [, port] = await service.prints(/service started .*port=(\d+)/);
    const ca = site.authority.certificate;
    const share = { path: `${site.data}/d/`, user: EVERYBODY, access: "READ" };
    const made = await ask(`https://localhost:${port}/rest/share/HPC`, ca, { as: ALICE, body: share });
    assert.equal(made.status, 201, made.text);
    const id = made.headers.location?.split("/").at(-1);

    // The kernel buffers nearly this much for a client that reads nothing: the edge may hold the ends of some files.
    const most = Number((await Deno.readTextFile("/proc/sys/net/ipv4/tcp_wmem")).trim().split(/\s+/).at(-1));
    const sizes = [4, 3, 2, 1, 0, -1, -2].map((steps) => most + steps * KEPT / 2);
    const downloads: { size: number; client: SlowClient }[] = [];
    for (const size of sizes) {
      await Deno.writeFile(`${site.data}/d/${size}`, new Uint8Array(size));
      const connection = await Deno.connectTls({ hostname: "localhost", port: Number(port), caCerts: [ca] });
      const request = `GET /rest/access/HPC/${id}/${size} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
      downloads.push({ size, client: await SlowClient.send(connection, request) });
    }
    service.kill("SIGTERM");
    await service.prints(/shutting down/);
    for (const { size, client } of downloads) {
      assert.equal(await inTime(client.rest(size), `the file of ${size} bytes`), size);
      client[Symbol.dispose]();
    }
    assert.equal(await service.ended, 0);
    assert.match(service.printed, / stopped$/m);
  },
});
