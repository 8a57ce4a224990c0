/** Tests the files of a release: build, installation, start. Needs `dpkg-deb` and `rpmbuild`; root for packages. */
import assert from "node:assert/strict";
import { readProject, ROOT } from "../../bin/build/project.ts";
import { release, releaseNames } from "../../bin/build/release.ts";
import { runTool } from "../../bin/build/run_tool.ts";
import { isTarget } from "../../bin/build/target.ts";
import { ThrowawayRoot } from "./throwaway_root.ts";

const there = (tool: string) => runTool(tool, ["--version"]).then(() => true, () => false);
const { target } = Deno.build;
assert(isTarget(target));
const CAN_RELEASE = await there("dpkg-deb") && await there("rpmbuild");
const { version } = await readProject();
const NAMES = releaseNames(version, target);

const folder = await Deno.makeTempDir({ prefix: "authserver-release-" });
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const made = CAN_RELEASE ? await release(target, folder) : [];

Deno.test({
  name: "a release consists of all its files, with their digests",
  ignore: !CAN_RELEASE,
  async fn() {
    assert.deepEqual(
      made.toSorted(),
      [...Object.values(NAMES), "SHA256SUMS"].map((name) => `${folder}/${name}`).toSorted(),
    );
    await runTool("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
    const facts = JSON.parse(await runTool(`${folder}/${NAMES.executable}`, ["version", "--json"]));
    assert.equal(facts.version, version);
    const { metadata } = JSON.parse(await Deno.readTextFile(`${folder}/${NAMES.sbom}`));
    assert.equal(metadata.component.version, version);
  },
});

Deno.test({
  name: "the archive contains an installation: program, scripts, configuration, manual",
  ignore: !CAN_RELEASE,
  async fn() {
    await runTool("tar", ["-xzf", NAMES.archive], { cwd: folder });
    const root = `${folder}/authserver-${version}`;
    for (
      const path of [
        "conf/container.properties",
        "conf/startup.properties",
        "docs/index.md",
        "LICENSE",
        "CHANGELOG.md",
      ]
    ) {
      assert((await Deno.stat(`${root}/${path}`)).isFile, path);
    }
    assert.match(
      await runTool(`${root}/bin/authserver`, ["--version"]),
      RegExp(`^authserver ${RegExp.escape(version)} `),
    );
    const status = await new Deno.Command(`${root}/bin/authserver-status.sh`).output();
    assert.equal(status.code, 7);
    assert.match(new TextDecoder().decode(status.stdout), /^service AUTHSERVER not running/);
  },
});

Deno.test({
  name: "the Debian package has no lintian errors, and declares that it replaces the Java service",
  ignore: !CAN_RELEASE || !await there("lintian"),
  async fn() {
    assert.doesNotMatch(await runTool("lintian", ["--fail-on=error", `${folder}/${NAMES.deb}`]), /^E:/m);
    assert.equal(
      await runTool("dpkg-deb", ["-f", `${folder}/${NAMES.deb}`, "Conflicts"]),
      "unicore-authserver\n",
    );
  },
});

Deno.test({
  name:
    "the Debian package's program runs as the service's account, which has no home, before the first start",
  ignore: !CAN_RELEASE || !await ThrowawayRoot.available("dpkg"),
  async fn() {
    await using root = await ThrowawayRoot.create();
    await Deno.copyFile(`${folder}/${NAMES.deb}`, root.path("/root/authserver.deb"));
    await root.run("dpkg", "-i", "/root/authserver.deb");
    for (const environment of [["HOME=/"], ["HOME=/nonexistent"], []]) {
      const said = await root.run(
        ...["runuser", "-u", "authserver", "--", "env", "-i", "PATH=/usr/bin:/bin", ...environment],
        ...["/usr/bin/authserver", "version", "--json"],
      );
      assert.equal(JSON.parse(said).configuration, "/etc/authserver/container.properties");
    }
    assert.equal(
      await root.run("stat", "-c", "%U:%G %a", "/var/cache/authserver"),
      "authserver:authserver 700\n",
    );
    assert(await root.exists("/usr/share/doc/authserver/examples/bin/authserver-start.sh"));
  },
});

Deno.test({
  name: "two releases with one SOURCE_DATE_EPOCH are byte-identical",
  ignore: !CAN_RELEASE,
  async fn() {
    const sums: string[] = [];
    for (const name of ["one", "two"]) {
      await runTool(
        Deno.execPath(),
        ["run", "--allow-all", `${ROOT}/tests/build/release_to.ts`, `${folder}/${name}`],
        { env: { SOURCE_DATE_EPOCH: "1780000000" } },
      );
      sums.push(await Deno.readTextFile(`${folder}/${name}/SHA256SUMS`));
    }
    assert.equal(sums[0], sums[1]);
  },
});

Deno.test({
  name: "the RPM package installs, runs, and on removal keeps changed configuration, but no program",
  ignore: !CAN_RELEASE || !await ThrowawayRoot.available("rpm"),
  async fn() {
    await using root = await ThrowawayRoot.create();
    await Deno.copyFile(`${folder}/${NAMES.rpm}`, root.path("/root/authserver.rpm"));
    const rpm = (...args: readonly string[]) => root.run("rpm", "--force-debian", ...args);
    assert.match(await rpm("-qp", "--conflicts", "/root/authserver.rpm"), /^unicore-authserver$/m);
    await rpm("--install", "--nodeps", "/root/authserver.rpm");
    const facts = JSON.parse(
      await root.run("/usr/bin/env", "HOME=/root", "/usr/bin/authserver", "version", "--json"),
    );
    assert.equal(facts.version, version);
    assert.match(await root.run("getent", "passwd", "authserver"), /nologin$/m);
    assert.equal(
      await root.run("stat", "-c", "%U:%G %a", "/etc/authserver/users.txt"),
      "authserver:authserver 600\n",
    );
    await Deno.writeTextFile(root.path("/etc/authserver/mapfile.json"), '{"CN=Changed": {}}\n');
    await rpm("--erase", "authserver");
    assert(!await root.exists("/usr/bin/authserver"));
    assert.equal(
      await Deno.readTextFile(root.path("/etc/authserver/mapfile.json.rpmsave")),
      '{"CN=Changed": {}}\n',
    );
  },
});
