import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { mountService } from "../../src/service/mount.ts";

const FIXTURES = new URL("../fixtures/java_installation/", import.meta.url).pathname;
const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** Facts about the user `ann` in the files of each variant. */
const EXPECTED = {
  variant_a: {
    server: "CLUSTER",
    entry: { uid: "ann", gid: "hpc", availableGroups: ["users", "hpc"], rateLimit: 200 * 1024 * 1024 },
    base: "https://auth.example.org:9000",
  },
  variant_b: {
    server: "TEST",
    entry: { uid: "ann", gid: "hpc", availableGroups: ["users", "hpc"], rateLimit: 200 * 1024 * 1024 },
    base: "https://localhost:9000",
  },
} as const;

/** Copies a variant, since the service creates folders beside `conf/`. */
async function installation(variant: string) {
  const folder = await mkdtemp(`${tmpdir()}/authserver-java-`);
  await cp(`${FIXTURES}${variant}`, folder, { recursive: true });
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

for (const [variant, { server, entry, base }] of Object.entries(EXPECTED)) {
  Deno.test(`the service runs with the unchanged files of a Java installation, ${variant}`, async () => {
    await using copy = await installation(variant);
    const service = await mountService({
      configuration: "conf/container.properties",
      workingDirectory: copy.folder,
      log: () => {},
    });
    try {
      const request = new Request(`${base}/rest/auth`, {
        headers: { Authorization: `Basic ${btoa("ann:test123")}`, Accept: "application/json" },
      });
      const response = await service.handle(request, { address: "127.0.0.1" });
      assert.equal(response.status, 200);
      const list = await response.json();
      const { uid, gid, availableGroups, rateLimit } = list[server];
      assert.deepEqual({ uid, gid, availableGroups, rateLimit }, entry);
      assert.equal(list[server].href, `${base}/rest/auth/${server}`);
      assert.equal(list.client.role.selected, "user");
      assert.equal(list.server.credential.dn, "CN=auth.example.org,O=Example,C=EU");
      if (variant === "variant_a") {
        assert.deepEqual(
          [list.ARCHIVE.uid, list.ARCHIVE.allowed, list.ARCHIVE.forbidden],
          ["annarch", "/archive/ann/*", "/archive/ann/.private/*"],
        );
      }
    } finally {
      await service.close();
    }
  });

  Deno.test(`a Java installation, ${variant}, starts as a process with only its port changed`, async () => {
    await using copy = await installation(variant);
    const main = `${copy.folder}/conf/container.properties`;
    const text = await Deno.readTextFile(main);
    await Deno.writeTextFile(main, text.replace("container.port=9000", "container.port=0"));
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", MAIN, "serve", "--config", "conf/container.properties"],
      cwd: copy.folder,
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let output = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += part;
      if (output.includes("***** Server started. *****")) break;
    }
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0, output);
    assert.match(output, /Server started/);
  });
}
