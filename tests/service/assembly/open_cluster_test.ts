import assert from "node:assert/strict";
import { loadSnapshot } from "../../../src/service/assembly/load_snapshot.ts";
import { configurationDigest } from "../../../src/service/assembly/open_cluster.ts";
import { createSite } from "../../system/running_service.ts";

/** Returns the configuration digest of a site with additional lines. */
async function digestOf(
  folder: string,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const text = await Deno.readTextFile(`${folder}/conf/container.properties`);
  const lines = Object.entries(more).map(([key, value]) => `${key}=${value}\n`).join("");
  const replaced = text.split("\n").filter((line) => !Object.hasOwn(more, line.split("=")[0] ?? "")).join(
    "\n",
  );
  const main = `${folder}/conf/${name}.properties`;
  await Deno.writeTextFile(main, replaced + lines, { mode: 0o600 });
  const { snapshot, diagnostics } = await loadSnapshot(main, {
    environment: () => undefined,
    workingDirectory: folder,
  });
  assert.ok(snapshot, JSON.stringify(diagnostics));
  return configurationDigest(snapshot.config);
}

Deno.test("configurationDigest() ignores per-instance settings, and depends on all others", async () => {
  await using site = await createSite({ properties: { "persistence.directory": "{folder}/data" } });
  const { folder } = site;
  const one = await digestOf(folder, "one");
  const own = {
    "container.port": "4711",
    "container.host": "127.0.0.1",
    "container.logging.file": "/tmp/elsewhere.log",
    "container.metrics.port": "9464",
    "container.control.socket": `${folder}/a.sock`,
    "persistence.directory": `${folder}/elsewhere`,
    "container.drainSeconds": "7",
  };
  assert.equal(await digestOf(folder, "two", own), one);
  const common = {
    "container.sitename": "OTHER",
    "share.maxPerUser": "7",
    "container.security.throttling.maxFailures": "9",
    "container.externalurl": "https://auth.example.org",
    "authservice.server.HPC.description": "another",
  };
  for (const [key, value] of Object.entries(common)) {
    assert.notEqual(await digestOf(folder, "three", { [key]: value }), one, key);
  }
});

Deno.test("configurationDigest() does not depend on the folder, and covers no secrets", async () => {
  const digests: string[] = [];
  for (
    const secret of [
      "secret one of the two, which is long enough",
      "secret two of the two, which is long enough",
    ]
  ) {
    await using site = await createSite({ properties: { "container.security.rest.jwt.hmacSecret": secret } });
    const daemon = { "authservice.server.HPC.port": "64434", "authservice.server.HPC.commandPort": "64435" };
    digests.push(await digestOf(site.folder, "one", daemon));
  }
  assert.equal(digests[0], digests[1]);
});
