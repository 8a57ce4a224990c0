/** Tests the contents of packages and archive, and the steps of the README in a throw-away root. */
import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import { archiveFiles } from "../../bin/build/archive.ts";
import { writeDeb } from "../../bin/build/deb.ts";
import { packageFiles } from "../../bin/build/package_files.ts";
import { runTool } from "../../bin/build/run_tool.ts";
import { linksOf } from "../docs/manual_page.ts";
import { createAuthority } from "../pki/authority.ts";
import { runFromSource } from "../system/service_process.ts";
import { ThrowawayRoot } from "./throwaway_root.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const MANUAL = "/usr/share/doc/authserver";

Deno.test("packages contain the manual, and its links lead to files of the package", async () => {
  const files = new Map((await packageFiles()).map(({ path, content }) => [path, content]));
  const folders = new Set([...files.keys()].map(dirname));
  const pages = [...files.keys()].filter((path) =>
    path.startsWith(`${MANUAL}/docs/`) && path.endsWith(".md")
  );
  for await (const { name } of Deno.readDir(`${ROOT}docs`)) {
    if (name.endsWith(".md")) assert(files.has(`${MANUAL}/docs/${name}`), name);
  }
  const missing: string[] = [];
  for (const page of pages) {
    const content = files.get(page);
    assert(content instanceof Uint8Array);
    for (const { path } of linksOf(new TextDecoder().decode(content))) {
      const target = normalize(join(dirname(page), path)).replace(/\/$/, "");
      const isOfTheSource = /\/authserver\/(?:src|tests(?!\/reports\/.*\.md$)|conf|bin)/.test(target);
      const isReport = /\/docs\/(?:man|completions)\b|\.json$/.test(target);
      if (path !== "" && !isOfTheSource && !isReport && !files.has(target) && !folders.has(target)) {
        missing.push(`${page} -> ${path}`);
      }
    }
  }
  assert.deepEqual(missing, []);
});

Deno.test("packages and archive provide the folder of trusted certificates", async () => {
  const paths = (await packageFiles()).map(({ path }) => path);
  assert(paths.includes("/etc/authserver/trusted/README.txt"));
  const archived = (await archiveFiles(new Uint8Array())).map(({ path }) => path);
  assert(archived.includes("conf/trusted/README.txt"));
  assert(archived.includes("docs/installation.md"));
});

Deno.test({
  name: "the Debian package lists manual, unit and account",
  ignore: !await runTool("dpkg-deb", ["--version"]).then(() => true, () => false),
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const program = { path: "/usr/bin/authserver", mode: 0o755, content: "#!/bin/sh\n" };
      const output = `${folder}/a.deb`;
      await writeDeb({
        output,
        version: "1.0",
        architecture: "all",
        files: [program, ...await packageFiles()],
      });
      const listed = await runTool("dpkg-deb", ["--contents", output]);
      for (
        const path of [
          `.${MANUAL}/docs/index.md`,
          `.${MANUAL}/README.md`,
          "./etc/authserver/trusted/README.txt",
          "./usr/lib/systemd/system/authserver.service",
          "./usr/lib/sysusers.d/authserver.conf",
        ]
      ) assert.match(listed, new RegExp(` root/root .* ${RegExp.escape(path)}$`, "m"));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** Returns the install commands of the README that need neither network nor a running systemd. */
async function installSteps(): Promise<string[]> {
  const readme = await Deno.readTextFile(`${ROOT}README.md`);
  const [, block = ""] = /## Install\n[^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
  const lines = block.trim().split("\n").map((line) => line.replace(/\s*#.*$/, ""));
  return lines.filter((line) => !/^npx |^curl |editor |systemctl |--online/.test(line));
}

Deno.test({
  name: "the steps of the README install the program, its account and keys that only the service can read",
  ignore: !await ThrowawayRoot.available("systemd-sysusers"),
  async fn() {
    const steps = await installSteps();
    assert.equal(steps.length, 5, steps.join("\n"));
    const authority = createAuthority({ subject: "CN=Example CA,O=Example" });
    const own = authority.issue({ subject: "CN=auth.example.org,O=Example", names: ["auth.example.org"] });
    await using root = await ThrowawayRoot.create();
    const work = "/root/install";
    const [run = "", ...others] = runFromSource();
    // The system's code cache below the overlay changes meanwhile.
    const words = [Deno.execPath(), run, "--no-code-cache", ...others].map((word) => `'${word}'`).join(" ");
    const files: Record<string, string> = {
      authserver: `#!/bin/sh\nexec ${words} "$@"\n`,
      "auth-cert.pem": own.certificate,
      "auth-key.pem": own.key,
      "daemon-ca.pem": authority.certificate,
    };
    await Deno.mkdir(root.path(work), { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(root.path(`${work}/${name}`), text);
    }
    const script = `sudo() { "$@"; }; set -e; umask 022; cd ${work}\n${steps.join("\n")}`;
    await root.run("/bin/sh", "-c", script);
    const facts = (path: string) => root.run("stat", "-c", "%U:%G %a", path);
    assert.equal(await facts("/etc/authserver/auth-key.pem"), "root:authserver 640\n");
    assert.equal(await facts("/etc/authserver/users.txt"), "authserver:authserver 600\n");
    assert.equal(await facts("/etc/authserver/container.properties"), "root:authserver 640\n");
    assert.match(await root.run("getent", "passwd", "authserver"), /nologin$/m);
    const properties = root.path("/etc/authserver/container.properties");
    const text = await Deno.readTextFile(properties);
    await Deno.writeTextFile(properties, text.replace(/^#?container\.externalurl=.*$/m, ""));
    assert.match(await root.run("authserver", "check"), /is valid: 0 errors/);
  },
});
