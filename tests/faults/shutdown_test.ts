/** The end of a service whose clients never finish what they send. */
import assert from "node:assert/strict";
import { request } from "node:https";
import { until } from "../fixtures/deadline.ts";
import { ask } from "../system/ask.ts";
import { ALICE } from "../system/running_service.ts";
import { CHECKOUT, runAuthserver, runFromSource } from "../system/service_process.ts";
import { createSharingSite, EVERYBODY } from "../system/sharing/sharing_system.ts";

const HASTY = [...runFromSource().slice(0, -1), `${CHECKOUT}tests/faults/hasty_service.ts`];

Deno.test("SIGTERM ends the process within its bound while uploads are never finished", async () => {
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
    upload.on("error", () => {}); // the end of the service cuts it
    upload.write("the beginning");
    return upload;
  });
  await until(() => site.daemon().openConnections >= uploads.length);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0);
  assert.match(service.printed, /shutdown took too long, ending with what is under way ms=1000/);
  assert.doesNotMatch(service.printed, / stopped$/m, "it did not wait for the uploads");
  uploads.forEach((upload) => upload.destroy());
});
