import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { formatDiagnostic, InvalidFile } from "../../src/model/diagnostic.ts";
import { createService } from "../../src/service/service.ts";
import { createSite } from "../system/running_service.ts";

// Files that a test breaks right before the start: the service reads them last, when everything else is open.
const SPOILT: [string, Record<string, string>, RegExp][] = [
  ["conf/gateway.pem", {
    "container.security.gateway.enable": "true",
    "container.security.gateway.certificate": "{folder}/conf/gateway.pem",
  }, /gateway\.pem: container\.security\.gateway\.certificate: expected an X\.509 certificate/],
  ["conf/friend.pem", {
    "container.security.rest.jwt.trustedIssuerCert.1": "{folder}/conf/friend.pem",
  }, /friend\.pem: container\.security\.rest\.jwt\.trustedIssuerCert: expected an X\.509 certificate/],
  ["conf/dynamic.json", {
    "container.security.dynamicAttributes.order": "FILE",
    "container.security.dynamicAttributes.FILE.file": "{folder}/conf/dynamic.json",
  }, /dynamic\.json:1: /],
];
for (const [path, properties, message] of SPOILT) {
  Deno.test({
    name: `a service that cannot read ${path} leaves nothing open, and names the file`,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      await using site = await createSite({ properties, files: { [path]: "{}" } });
      if (path.endsWith(".pem")) await Deno.copyFile(`${site.folder}/conf/ca.pem`, `${site.folder}/${path}`);
      const { snapshot, diagnostics } = await inspect(site.main);
      assert(snapshot !== undefined, diagnostics.map(({ expected }) => expected).join());
      await site.replace(path, "[ not what it was");
      const options = { ...snapshot, generation: 1, upSince: 0, port: 9000 };
      await assert.rejects(createService(options, { log: SILENT }), (error) => {
        assert(error instanceof InvalidFile);
        assert.match(error.message, message);
        assert(error.message.startsWith(site.folder));
        return true;
      });
    },
  });
}

const PLAN = "conf/reservations.json";
const RESERVING = {
  "authservice.server.HPC.reservations.enable": "true",
  "authservice.server.HPC.reservations.file": `{folder}/${PLAN}`,
};

Deno.test("a service starts with an invalid reservation file, which its status and check report", async () => {
  await using site = await createSite({ properties: RESERVING, files: { [PLAN]: "[" } });
  const { snapshot, diagnostics } = await inspect(site.main);
  const [found] = diagnostics.filter(({ file }) => file.endsWith(PLAN));
  assert(snapshot !== undefined && found !== undefined, "check warns");
  const service = await createService({ ...snapshot, generation: 1, upSince: 0, port: 9000 }, {
    log: SILENT,
  });
  try {
    const answer = await service.admin.call({ command: "status" });
    assert("status" in answer);
    assert.deepEqual(answer.status.refusedFiles, [formatDiagnostic(found)]);
  } finally {
    await service.close();
  }
});

Deno.test("check detects a file that is too large for the service", async () => {
  const most = 4 * 1024 ** 2;
  const path = PLAN;
  await using site = await createSite({ properties: RESERVING, files: { [path]: "{}".padEnd(most) } });
  const found = async () =>
    (await inspect(site.main)).diagnostics.filter(({ file }) => file.endsWith(path)).map(({ expected }) =>
      expected
    );
  assert.deepEqual(await found(), []);
  await site.replace(path, "{}".padEnd(most + 1));
  assert.deepEqual(await found(), [`expected at most ${most}`]);
});
