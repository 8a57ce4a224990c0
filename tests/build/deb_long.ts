/** Tests the Debian package in a throw-away root, an overlay for all changes. Needs root and `dpkg`. */
import assert from "node:assert/strict";
import { writeDeb } from "../../bin/build/deb.ts";
import { packageFiles } from "../../bin/build/package_files.ts";
import { runTool } from "../../bin/build/run_tool.ts";
import { ThrowawayRoot } from "./throwaway_root.ts";

const ARCHITECTURE = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
const ADMINISTRATORS = "# changed by the administrator\n";

Deno.test({
  name: "the Debian package installs, keeps changed configuration in an update, and is gone after a purge",
  ignore: !await ThrowawayRoot.available("dpkg"),
  async fn() {
    await using root = await ThrowawayRoot.create();
    const files = await packageFiles();
    const build = async (version: string) => {
      const program = { path: "/usr/bin/authserver", mode: 0o755, content: `#!/bin/sh\necho ${version}\n` };
      const shipped = files.map((file) =>
        file.path.endsWith("ssh-keys.txt") ? { ...file, content: `# ${version}\n` } : file
      );
      await writeDeb({
        output: root.path(`/root/${version}.deb`),
        version,
        architecture: ARCHITECTURE,
        files: [program, ...shipped],
      });
    };
    await build("1.0");
    await build("1.1");

    await root.run("dpkg", "-i", "/root/1.0.deb");
    assert.equal(await root.run("authserver"), "1.0\n");
    const facts = (path: string) => root.run("stat", "-c", "%U:%G %a", path);
    assert.equal(await facts("/etc/authserver"), "root:authserver 750\n");
    assert.equal(await facts("/etc/authserver/container.properties"), "root:authserver 640\n");
    assert.equal(await facts("/etc/authserver/users.txt"), "authserver:authserver 600\n");
    assert.match(await root.run("getent", "passwd", "authserver"), /nologin$/m);
    assert.equal(await root.run("dpkg", "-V", "authserver"), "");
    const properties = await Deno.readTextFile(root.path("/etc/authserver/container.properties"));
    assert.doesNotMatch(properties, /^[^#\n]*=(?:conf|logs)\//m);

    await Deno.writeTextFile(root.path("/etc/authserver/container.properties"), ADMINISTRATORS);
    await root.run("dpkg", "-i", "/root/1.1.deb");
    assert.equal(await root.run("authserver"), "1.1\n");
    assert.equal(await Deno.readTextFile(root.path("/etc/authserver/container.properties")), ADMINISTRATORS);
    assert.equal(await Deno.readTextFile(root.path("/etc/authserver/ssh-keys.txt")), "# 1.1\n");

    await Deno.mkdir(root.path("/var/lib/authserver"), { recursive: true });
    await root.run("dpkg", "-r", "authserver");
    assert(!await root.exists("/usr/bin/authserver"));
    assert(await root.exists("/etc/authserver/container.properties"));
    assert(await root.exists("/var/lib/authserver"));
    await root.run("dpkg", "-P", "authserver");
    for (
      const path of ["/etc/authserver", "/var/lib/authserver", "/usr/lib/systemd/system/authserver.service"]
    ) {
      assert(!await root.exists(path), path);
    }
  },
});

Deno.test({
  name: "the unit is well-formed and has a low exposure level",
  ignore: !await runTool("systemd-analyze", ["--version"]).then(() => true, () => false),
  async fn() {
    const unit = new URL("../../conf/authserver.service", import.meta.url).pathname;
    const report = await runTool("systemd-analyze", ["security", "--offline=true", "--no-pager", unit]);
    const [, level] = /exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
    assert(Number(level) <= 1.5, level);
  },
});
