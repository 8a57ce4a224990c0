/** Audit lines at a real rsyslogd, configured as in the manual. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ALICE, createSite, runAt, settled } from "../system/running_service.ts";
import { hasProgram, lacking } from "./lacking.ts";

const MANUAL = new URL("../../docs/audit.md", import.meta.url);

/** Folders of the modules of rsyslogd: Debian has its TLS in a package of its own. */
const MODULES = ["/usr/lib64", `/usr/lib/${Deno.build.arch}-linux-gnu`].map((folder) => `${folder}/rsyslog`);

const tlsModules = await Promise.all(MODULES.map((folder) => isFile(`${folder}/lmnsd_gtls.so`)));

if (await hasProgram("rsyslogd") && tlsModules.includes(true)) {
  Deno.test("rsyslogd, configured as in the manual, stores every audit line unchanged", async () => {
    const port = freePort();
    const properties = { "container.audit.syslog": `tls://localhost:${port}` };
    await using site = await createSite({ properties });
    const { certificate, key } = site.authority.issue({ subject: "CN=localhost", names: ["localhost"] });
    await Deno.mkdir(`${site.folder}/logs`);
    const files = { "ca.pem": site.authority.certificate, "cert.pem": certificate, "key.pem": key };
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${site.folder}/logs/${name}`, text);
    }
    const [, written = ""] = /```text\n(global\([^]*?)```/.exec(await Deno.readTextFile(MANUAL)) ?? [];
    const config = written.replaceAll("/etc/rsyslog.d/", `${site.folder}/logs/`)
      .replaceAll("/var/log/", `${site.folder}/logs/`)
      .replace('"6514"', `"${port}"`).replace("auth.site-a.example", "localhost");
    await Deno.writeTextFile(`${site.folder}/logs/rsyslog.conf`, config);
    const child = new Deno.Command("rsyslogd", {
      args: ["-n", "-f", `${site.folder}/logs/rsyslog.conf`, "-i", `${site.folder}/logs/pid`],
      stdin: "null",
    }).spawn();
    try {
      await until(() =>
        Deno.connect({ port }).then((connection) => connection.close()).then(() => true, () => false)
      );
      const system = await runAt(site);
      await settled(system);
      for (let i = 0; i < 20; i++) {
        await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: `/${"x".repeat(400 * i)}` } });
      }
      system.service.stop();
      await system.service.stopped;
      const lines = async () =>
        (await Deno.readTextFile(`${site.folder}/logs/authserver-audit.log`).catch(() => "")).trim().split(
          "\n",
        );
      await until(async () => /"event":"stop"/.test((await lines()).at(-1) ?? ""));
      const events = (await lines()).map((line) => JSON.parse(line).event);
      assert.deepEqual(events, ["start", ...Array(20).fill("session"), "stop"]);
    } finally {
      child.kill("SIGTERM");
      await child.status;
    }
  });
} else {
  lacking("rsyslogd", "rsyslogd or its TLS is not installed (Debian: apt-get install rsyslog-gnutls)");
}

function isFile(path: string): Promise<boolean> {
  return Deno.stat(path).then((entry) => entry.isFile, () => false);
}
