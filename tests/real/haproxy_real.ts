/** Tests two instances behind HAProxy, with the configuration from the manual. */
import assert from "node:assert/strict";
import { request } from "node:https";
import { createAuthority } from "../pki/authority.ts";
import { balancerProperties, HAPROXY, startBalancer } from "../fixtures/haproxy.ts";
import { ALICE, runService } from "../system/running_service.ts";
import { lacking } from "./lacking.ts";

const PART = "HAProxy";
/** Host name in the certificate of the service in tests. */
const NAME = "localhost";

/** Asks for a session or for the list of servers on a new connection. @returns Status of the answer. */
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

if (HAPROXY !== undefined) {
  Deno.test("behind HAProxy, configured as in the manual, clients keep their addresses, and one instance ends unnoticed", async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    const ca = authority.certificate;
    const properties = await balancerProperties();
    await using one = await runService({ authority, properties });
    await using two = await runService({ authority, properties });
    await using haproxy = await startBalancer([one.port, two.port], { ca });
    for (let i = 0; i < 4; i++) assert.equal(await ask(haproxy.port, ca, "127.0.0.2", true), 200);
    for (const instance of [one, two]) {
      await instance.logged(/ audit session .*client=127\.0\.0\.2 /);
      const order = instance.daemon().sessionRequests.at(-1);
      assert.equal(order?.get("client-ip"), "127.0.0.2,::ffff:127.0.0.2");
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
