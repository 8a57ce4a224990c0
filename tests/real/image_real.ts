/** Builds, starts, checks and stops the manual's image, on a real Debian base with the real executable. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ask } from "../system/ask.ts";
import { ALICE, ALICE_DN, createSite } from "../system/running_service.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const PART = "the image";
const ROOT = new URL("../../", import.meta.url).pathname;
const UID = 10001;
const [CONF, DATA] = ["/etc/authserver", "/var/lib/authserver"];

/** Runs the image's command, waits until the health check passes, and stops it when the input ends. */
const SCRIPT =
  `"$@" & tries=300; until $0 >&2; do tries=$((tries - 1)); [ $tries -gt 0 ] || { kill $!; exit 1; }; sleep 1; done
  echo "healthy as $(id -u)"; cat; kill -TERM $!; wait $!`;

/** Makes the account of the image the owner of a folder that it mounts. */
const giveAway = (folder: string) => run("chown", ["-R", `${UID}:${UID}`, folder]);

/** Returns a function that runs buildah with its store below a folder, and its options and environment. */
function buildahIn(folder: string) {
  const options = ["--root", `${folder}/store`, "--runroot", `${folder}/run`, "--storage-driver", "vfs"];
  const env = { BUILDAH_ISOLATION: "chroot" };
  return {
    options,
    env,
    call: (...args: readonly string[]) => run("buildah", [...options, ...args], { cwd: ROOT, env }),
  };
}

if (!await hasProgram("buildah") || !await hasProgram("mmdebstrap") || Deno.uid() !== 0) {
  lacking(PART, "run as root, and install buildah and mmdebstrap");
} else {
  Deno.test("the manual's image runs as its own user, passes its health check, and stops on request", async () => {
    const folder = await Deno.makeTempDir({ prefix: "authserver-image-" });
    let service: Deno.ChildProcess | undefined;
    try {
      const { call, options, env } = buildahIn(folder);
      await run("mmdebstrap", ["--variant=minbase", "bookworm", `${folder}/base.tar`]);
      await Deno.writeTextFile(`${folder}/Base`, "FROM scratch\nADD base.tar /\n");
      await call("build", "--tag", "base", "--file", `${folder}/Base`, folder);
      await Deno.remove(`${folder}/base.tar`);
      await run(Deno.execPath(), ["task", "compile"], { cwd: ROOT });
      await call(
        "build",
        "--pull=never",
        "--build-arg",
        "BASE=localhost/base",
        "--format",
        "docker",
        "--file",
        "docs/examples/container/Containerfile",
        "--tag",
        "authserver",
        ROOT,
      );

      const port = freePort();
      await using site = await createSite({
        properties: {
          "container.port": String(port),
          "container.logging.file": "-",
          "container.audit.file": "-",
          "container.control.socket": "/run/authserver/control.sock",
          "persistence.directory": `${DATA}/data`,
        },
      });
      const properties = await Deno.readTextFile(site.main);
      await site.replace("conf/container.properties", properties.replaceAll(`${site.folder}/conf`, CONF));
      await Deno.mkdir(`${folder}/data`);
      for (const each of [`${site.folder}/conf`, `${folder}/data`]) await giveAway(each);
      await Deno.chmod(folder, 0o755);

      const container = (await call("from", "--pull=never", "localhost/authserver")).trim();
      const mounts = [`${site.folder}/conf:${CONF}:ro`, `${folder}/data:${DATA}`].flatMap((mount) => [
        "--volume",
        mount,
      ]);
      const { Docker: { config } } = JSON.parse(await call("inspect", "--type", "image", "authserver"));
      const health = config.Healthcheck.Test.slice(1).join(" ");
      const running = service = new Deno.Command("buildah", {
        args: [
          ...[...options, "run", ...mounts, container, "--", "sh", "-c", SCRIPT, health],
          ...config.Entrypoint,
          ...config.Cmd,
        ],
        env,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const said: string[] = [];
      const reading = running.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
        new WritableStream({ write: (text) => void said.push(text) }),
      );
      const isHealthy = () => /^healthy as \d+$/m.test(said.join(""));
      await until(isHealthy, { what: "healthy", everyMs: 100, withinMs: 300_000 });
      const reply = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, {
        as: ALICE,
      });
      assert(reply.text.includes(ALICE_DN), reply.text);
      await running.stdin.close();
      const [{ code }] = await Promise.all([running.status, reading, running.stderr.cancel()]);
      assert.equal(code, 0, said.join(""));
      assert.match(said.join(""), new RegExp(`^healthy as ${UID}$[^]*"event":"stop"`, "m"));
    } finally {
      await service?.stdin.close().catch(() => {}); // the service may have ended
      await service?.status;
      await Deno.remove(folder, { recursive: true });
    }
  });
}
