import assert from "node:assert/strict";
import { startService } from "../../../src/command/serving/running_service.ts";
import { SYSTEM_INFO } from "../../../src/command/system_info.ts";
import { createSite } from "../../system/running_service.ts";

for (const [uid, warned] of [[0, true], [1000, false], [null, false]] as const) {
  Deno.test(`startService() ${warned ? "warns" : "does not warn"} as account ${uid}`, async () => {
    await using site = await createSite();
    let log = "";
    const service = await startService(site.main, () => {}, {
      console: (text) => log += text,
      systemInfo: { ...SYSTEM_INFO, uid: () => uid },
    });
    service.stop();
    await service.stopped;
    assert.equal(/ warn {2}the service runs as root, /.test(log), warned, log);
  });
}
