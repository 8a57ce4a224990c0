/** Several instances as one service, with a real PostgreSQL. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { LONG } from "../long/results.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { ALICE } from "./running_service.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";

/** Instances check each other every five seconds: more requests would only take processor time. */
const SELDOM = { everyMs: 250, longestPauseMs: 500 };

/** Rounds in which several clients create a file at the same time. */
const ROUNDS = LONG ? 8 : 2;

async function status({ main }: Instance) {
  const io = recordedIo();
  await runCommand(["status", "--json", "--config", main], io);
  return JSON.parse(io.out);
}

Deno.test({ name: "several instances act as one service", ignore: POSTGRES === undefined }, async (t) => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  await using provider = await startOidcProvider(
    authority.issue({ subject: "CN=idp", names: ["localhost"] }),
  );
  await using several = await SeveralInstances.start({
    authority,
    properties: {
      "container.security.rest.authentication.order": "PASSWORD ISSUER",
      ...authenticatorProperties("ISSUER", {
        class: "OAuthAuthenticator",
        issuer: provider.issuer,
        requiredAudience: "uftp",
      }),
      "share.maxPerUser": "0",
      // Clients use one name for all, as behind a load balancer.
      "container.externalurl": "https://uftp.example.org",
    },
  });
  const { instances, server } = several;
  const [one, two, three] = instances;
  assert.ok(one && two && three);

  await t.step("status, health and page of each instance show the others", async () => {
    const known = async (instance: Instance) => (await instance.ask("/health/ready")).json()["instances"];
    for (const instance of instances) {
      await until(async () => JSON.stringify(await known(instance)) === '{"total":3,"serving":3}', SELDOM);
    }
    const told = await status(two);
    assert.equal(told.instances.length, 3);
    assert.equal(told.configurationsDiffer, false);
    assert.deepEqual(told.database, { state: "up", awaySeconds: 0, defects: 0, knowsRevoked: true });
    assert.equal(told.instances.filter(({ own }: { own: boolean }) => own).length, 1);
    const page = await one.ask("/", { as: ALICE, headers: { Accept: "text/html" } });
    assert.match(page.text, /3 instances are running\./);
  });

  await t.step("all instances serve a share that one created, until another removes it", async () => {
    const id = await several.share();
    const path = `/rest/access/HPC/${id}`;
    for (const instance of instances) assert.equal((await instance.ask(path)).text, "0123456789");
    assert.equal((await two.ask(`/rest/share/HPC/${id}`, { as: ALICE, method: "DELETE" })).status, 200);
    for (const instance of instances) assert.equal((await instance.ask(path)).status, 404);
  });

  await t.step("a token revoked at one instance is refused by all", async () => {
    const asText = { Accept: "text/plain" };
    const token = (await one.ask("/rest/auth/token", { as: ALICE, headers: asText })).text;
    const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
    for (const instance of instances) {
      assert.equal((await instance.ask("/rest/auth/HPC", { headers })).status, 200);
    }
    const revoked = await two.ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" });
    assert.ok(revoked.status < 300, revoked.text);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { headers })).status === 401);
    }
  });

  await t.step("a ban takes effect at all instances, until one of them lifts it", async () => {
    const run = async (...args: string[]) => {
      const io = recordedIo();
      assert.equal(await runCommand(args, io), 0, io.err);
    };
    await run("ban", "add", "--user", "alice", "--config", one.main);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 429);
    }
    await run("ban", "remove", "--user", "alice", "--config", three.main);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 200);
    }
  });

  await t.step(
    "guesses at all instances count together",
    async () => {
      let tries = 0;
      for (let i = 0; i < 24; i++) {
        const reply = await instances[i % 3]?.ask("/rest/auth", { as: ["mallory", `guess ${i}`] });
        if (reply?.status === 401) tries++;
        else assert.equal(reply?.status, 429);
      }
      // Alone, each would allow six. Another test checks the exact number, where nothing is slow.
      assert.ok(tries >= 6 && tries < 3 * 6, `${tries} tries`);
    },
  );

  const signer = createSigner("EdDSA", "1");
  provider.keys.push(signer.jwk);
  const client = await createDpopClient();
  const seconds = Math.floor(Date.now() / 1000);
  const token = signer.sign({
    iss: provider.issuer,
    sub: "ann",
    aud: "uftp",
    exp: seconds + 3000,
    cnf: { jkt: client.jkt },
  }, { typ: "at+jwt" });
  const prove = () => client.prove({ token, method: "GET", url: "https://uftp.example.org/rest/auth" });
  const show = async (instance: Instance, proof: string) =>
    (await instance.ask("/rest/auth", { headers: { Authorization: `DPoP ${token}`, DPoP: proof } })).status;

  await t.step("a proof of possession used at one instance is refused by another", async () => {
    const proof = prove();
    assert.equal(await show(one, proof), 200);
    assert.equal(await show(two, proof), 401);
    for (let round = 0; round < 8; round++) {
      const fresh = prove();
      const statuses: number[] = await Promise.all(
        [one, two, one, two].map((instance) => show(instance, fresh)),
      );
      assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401]);
    }
  });

  await t.step(
    "only one of several requests with If-None-Match creates a file, at whichever instances",
    async () => {
      const id = await several.share("d/", { access: "WRITE" });
      for (let round = 0; round < ROUNDS; round++) {
        const puts = Array.from({ length: 6 }, async (_, i) => {
          const path = `/rest/access/HPC/${id}/new${round}`;
          const question = { method: "PUT", body: `body ${i}`, headers: { "If-None-Match": "*" } };
          return (await instances[i % 2]?.ask(path, question))?.status;
        });
        assert.deepEqual((await Promise.all(puts)).toSorted(), [201, 412, 412, 412, 412, 412]);
      }
    },
  );

  await t.step("during a database outage, each instance refuses the proofs that it has seen", async () => {
    await server.stop();
    try {
      const proof = prove();
      assert.equal(await show(one, proof), 200);
      assert.equal(await show(one, proof), 401);
      assert.equal(await show(two, proof), 200, "as the manual says");
    } finally {
      await server.run();
    }
    for (const instance of instances) {
      await until(async () => (await instance.ask("/health/ready")).json()["degraded"] === false);
    }
  });

  await t.step("status shows a killed instance as silent, and no longer lists a stopped one", async () => {
    three.process.kill("SIGTERM");
    await three.process.ended;
    await until(async () => (await status(one)).instances.length === 2, SELDOM);
    two.process.kill("SIGKILL");
    await two.process.ended;
    await until(
      async () => (await status(one)).instances.some(({ state }: { state: string }) => state === "silent"),
      SELDOM,
    );
    const { json } = await one.ask("/health/ready");
    assert.deepEqual(json()["instances"], { total: 2, serving: 1 });
  });

  await t.step(
    "an instance that has never read the revoked tokens refuses all issued tokens, and says so",
    async () => {
      const [token, short] = await Promise.all(
        ["", "?lifetime=60"].map(async (query) =>
          (await one.ask(`/rest/auth/token${query}`, { as: ALICE, headers: { Accept: "text/plain" } })).text
        ),
      );
      const show = async (instance: Instance, token = "") =>
        await instance.ask("/rest/auth/HPC", {
          headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
        });
      assert.equal((await show(one, token)).status, 200);
      await server.stop();
      const fresh = await several.startInstance(5, { "share.maxPerUser": "7" });
      instances.push(fresh);
      for (const shown of [token, short]) {
        const refused = await show(fresh, shown);
        assert.deepEqual([refused.status, refused.json()["code"]], [503, "ERR_AUTHENTICATION_UNAVAILABLE"]);
        assert.ok(Number(refused.headers["retry-after"]) > 0);
      }
      assert.equal((await show(one, token)).status, 200, "which is what the other one knew last");
      assert.equal((await fresh.ask("/rest/auth/HPC", { as: ALICE })).status, 200, "logins go on");
      const io = recordedIo();
      await runCommand(["status", "--config", fresh.main], io);
      assert.match(io.out, /tokens of the service are refused until the revoked ones can be read/);
      await server.run();
      for (const shown of [token, short]) {
        await until(async () => (await show(fresh, shown)).status === 200);
      }
    },
  );

  await t.step("an instance with another configuration is reported", async () => {
    await until(async () => (await status(one)).configurationsDiffer, SELDOM);
    const other = instances.at(-1);
    // It has begun without the database.
    await until(
      async () => (await other?.ask("/health/ready"))?.json()["configurationsDiffer"] === true,
      SELDOM,
    );
    await one.process.prints(/instances have different configurations/);
  });
});
