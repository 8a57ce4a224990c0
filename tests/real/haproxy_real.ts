/** Two instances behind HAProxy, as the manual says it: its text is what is tried. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, runService, type SystemUnderTest } from "../system/running_service.ts";
import { hasProgram, lacking } from "./lacking.ts";

const PART = "HAProxy";
const HAPROXY = await hasProgram("haproxy") ? "haproxy" : "/usr/sbin/haproxy";
/** From which HAProxy connects. */
const BALANCER = "127.0.0.9";
/** The service names its certificate so, in tests. */
const NAME = "localhost";

/** The first block of a language in a section of `docs/network.md`. */
async function recipe(language: string): Promise<string> {
  const page = await Deno.readTextFile(new URL("../../docs/network.md", import.meta.url));
  const section = page.split("\n## ").find((text) => text.startsWith("Behind a load balancer")) ?? "";
  const found = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section)?.[1];
  assert(found !== undefined, `the manual has no ${language} for a load balancer`);
  return found;
}

/** Replaces what stands there; it must stand there. */
function put(text: string, ...changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    assert(changed.includes(from), `${from} in\n${text}`);
    return changed.replaceAll(from, to);
  }, text);
}

/** The settings of the manual, for addresses of this machine. */
async function settings(): Promise<Record<string, string>> {
  const lines = put(await recipe("properties"), ["192.0.2.10", BALANCER]).trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function startHaproxy(instances: readonly SystemUnderTest[], ca: string) {
  const folder = await Deno.makeTempDir({ prefix: "authserver-haproxy-" });
  const port = freePort();
  await Deno.writeTextFile(`${folder}/ca.pem`, ca);
  const [one, two] = instances;
  const text = put(
    await recipe("haproxy"),
    ["bind :9000", `bind 127.0.0.1:${port}`],
    ["192.0.2.21:9000", `127.0.0.1:${one?.port} source ${BALANCER}`],
    ["192.0.2.22:9000", `127.0.0.1:${two?.port} source ${BALANCER}`],
    ["auth.example.org", NAME],
    ["/etc/haproxy/auth-ca.pem", `${folder}/ca.pem`],
  );
  await Deno.writeTextFile(`${folder}/haproxy.cfg`, text);
  const child = new Deno.Command(HAPROXY, {
    args: ["-db", "-f", `${folder}/haproxy.cfg`],
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  for (let tries = 0; !await takes(port); tries++) {
    assert(tries < 500, "HAProxy does not listen");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function takes(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  const taken = await once(socket, "connect").then(() => true, () => false);
  socket.destroy();
  return taken;
}

/** A request on a connection of its own: for a session, or what a client asks first. @returns The status of the answer. */
function ask(port: number, ca: string, localAddress: string, session: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port,
      servername: NAME,
      localAddress,
      ca,
      agent: false,
      method: session ? "POST" : "GET",
      path: session ? "/rest/auth/HPC" : "/rest/auth",
      auth: ALICE.join(":"),
      headers: { "Content-Type": "application/json", Host: NAME },
    }, (response) => {
      response.resume();
      response.on("error", reject);
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end(session ? JSON.stringify({ serverPath: "" }) : undefined);
  });
}

if (await hasProgram("haproxy") || await Deno.stat(HAPROXY).then(() => true, () => false)) {
  Deno.test("behind HAProxy as the manual has it, clients keep their addresses, and one instance ends unnoticed", async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    const ca = authority.certificate;
    const properties = await settings();
    await using one = await runService({ authority, properties });
    await using two = await runService({ authority, properties });
    await using haproxy = await startHaproxy([one, two], ca);
    for (let i = 0; i < 4; i++) assert.equal(await ask(haproxy.port, ca, "127.0.0.2", true), 200);
    for (const instance of [one, two]) {
      await instance.logged(/ audit session .*client=127\.0\.0\.2 /);
      const order = instance.daemon().requests.findLast(({ values }) => values?.has("client-ip"));
      assert.equal(order?.values?.get("client-ip"), "127.0.0.2,::ffff:127.0.0.2");
    }
    let ended = false;
    one.service.stop();
    void one.service.stopped.then(() => ended = true);
    const statuses = new Map<number, number>();
    for (let after = 0; after < 20; after += ended ? 1 : 0) {
      const status = await ask(haproxy.port, ca, "127.0.0.3", false);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.deepEqual([...statuses.keys()], [200], "no client noticed");
    await two.logged(/request answered .*client=127\.0\.0\.3 /);
    assert.deepEqual([one, two].flatMap(({ log }) => log.filter((line) => /refused,/.test(line))), []);
    console.log(`${statuses.get(200)} requests while one of two instances ended`);
  });
} else lacking(PART, "install haproxy");
