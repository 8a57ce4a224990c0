import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { InvalidFile } from "../../src/model/diagnostic.ts";
import { createService } from "../../src/service/service.ts";
import { createSite } from "../system/running_service.ts";

/** A map file without users, and a reservations file without reservations. */
const GOOD = (path: string) => path.includes("reservations") ? `{ "reservations": [] }` : "{}";

// What the service spoils right before it starts: the last thing that is read, when all else is open already.
const SPOILT: [string, Record<string, string>, RegExp][] = [
  ["conf/gateway.pem", {
    "container.security.gateway.enable": "true",
    "container.security.gateway.certificate": "{folder}/conf/gateway.pem",
  }, /gateway\.pem: container\.security\.gateway\.certificate: expected an X\.509 certificate/],
  ["conf/friend.pem", {
    "container.security.rest.jwt.trustedIssuerCert.1": "{folder}/conf/friend.pem",
  }, /friend\.pem: container\.security\.rest\.jwt\.trustedIssuerCert: expected an X\.509 certificate/],
  ["conf/reservations.json", {
    "authservice.server.HPC.reservations.enable": "true",
    "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
  }, /reservations\.json:1: /],
  ["conf/dynamic.json", {
    "container.security.dynamicAttributes.order": "FILE",
    "container.security.dynamicAttributes.FILE.file": "{folder}/conf/dynamic.json",
  }, /dynamic\.json:1: /],
];
for (const [path, properties, message] of SPOILT) {
  Deno.test({
    name: `a service that cannot read ${path} leaves nothing open, and says which file it is`,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      await using site = await createSite({ properties, files: { [path]: GOOD(path) } });
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

Deno.test("a file that is too large for the service is found by check", async () => {
  const most = 4 * 1024 ** 2;
  const path = "conf/reservations.json";
  await using site = await createSite({
    properties: {
      "authservice.server.HPC.reservations.enable": "true",
      "authservice.server.HPC.reservations.file": `{folder}/${path}`,
    },
    files: { [path]: GOOD(path).padEnd(most) },
  });
  const found = async () =>
    (await inspect(site.main)).diagnostics.filter(({ file }) => file.endsWith(path)).map(({ expected }) =>
      expected
    );
  assert.deepEqual(await found(), []);
  await site.replace(path, GOOD(path).padEnd(most + 1));
  assert.deepEqual(await found(), [`expected at most ${most}`]);
});
