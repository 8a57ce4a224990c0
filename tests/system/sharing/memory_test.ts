import assert from "node:assert/strict";
import { LONG, note } from "../../long/results.ts";
import { backPressureOf } from "../../../src/edge/back_pressure.ts";
import { ALICE } from "../running_service.ts";
import { ask } from "../ask.ts";
import { runAuthserver, type ServiceProcess } from "../service_process.ts";
import { answerTo, createSharingSite, EVERYBODY } from "./sharing_system.ts";
import { type IncomingMessage } from "node:http";
import { request } from "node:https";

const MIB = 1024 ** 2;

/** Size of the file: 96 MiB in a normal run, 2 GiB with `AUTHSERVER_LONG_TESTS=1`. */
const SIZE = (LONG ? 2048 : 96) * MIB;

/** Limit of growth of the service's resident memory, in bytes. */
const ALLOWED = 50_000_000;

Deno.test({
  name: `the service relays ${SIZE / MIB} MiB in constant memory, also to a client that stops reading`,
  ignore: Deno.build.os !== "linux", // resident memory of another process is read from /proc
  async fn() {
    await using site = await createSharingSite();
    const path = `${site.data}/d/big`;
    await Deno.writeFile(path, new Uint8Array());
    await Deno.truncate(path, SIZE);
    const service = runAuthserver(["serve", "--config", site.main]);
    try {
      const [, port] = await service.prints(/service started .*port=(\d+)/);
      const origin = `https://localhost:${port}`;
      const ca = site.authority.certificate;
      const body = { path, user: EVERYBODY };
      const made = await ask(`${origin}/rest/share/HPC`, ca, { as: ALICE, body });
      const link = (made.headers.location ?? "").replace("/share/", "/access/");
      const open = async (range: string) =>
        await answerTo(request(link, { ca, agent: false, headers: { Range: range } }).end());
      const stalled = async () => {
        const response = await open("bytes=0-");
        backPressureOf(response.socket).stop();
        return response;
      };

      // Warms up: the engine's first garbage does not matter.
      for (let i = 0; i < 2; i++) await drain(await open(`bytes=0-${32 * MIB - 1}`), service);
      const before = residentMemory(service);
      const slow = await stalled();
      const { bytes, most } = await drain(await open("bytes=0-"), service);
      slow.destroy();
      assert.equal(bytes, SIZE);
      assert.ok(most - before < ALLOWED, `resident memory grew from ${before} to ${most} bytes`);
      note("trials", {
        trial: "download of a large shared file beside a client that stops reading",
        done: `${SIZE / MIB} MiB`,
        outcome: `resident memory ${((most - before) / 1e6).toFixed(0)} MB above the warm state`,
      });
    } finally {
      service.kill("SIGTERM");
      await service.ended;
    }
  },
});

/** Returns the resident memory of the service, in bytes. */
function residentMemory({ pid }: ServiceProcess): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Reads everything. @returns Bytes read, and the most memory that the service used meanwhile. */
async function drain(response: IncomingMessage, service: ServiceProcess) {
  let [bytes, most, looked] = [0, 0, 0];
  for await (const part of response) {
    bytes += part.length;
    if (bytes - looked < MIB) continue;
    looked = bytes;
    most = Math.max(most, residentMemory(service));
  }
  return { bytes, most };
}
