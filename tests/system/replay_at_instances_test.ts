/** One-time values at several instances, and an instance that starts without the database. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { ALICE } from "./running_service.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";

Deno.test(
  { name: "several instances accept a one-time value only once", ignore: POSTGRES === undefined },
  async (t) => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await using provider = await startOidcProvider(
      authority.issue({ subject: "CN=idp", names: ["localhost"] }),
    );
    const signer = createSigner("EdDSA", "1");
    provider.keys.push(signer.jwk);
    const client = await createDpopClient();
    await using several = await SeveralInstances.start({
      instances: 2,
      authority,
      properties: {
        "container.security.rest.authentication.order": "PASSWORD ISSUER",
        ...authenticatorProperties("ISSUER", {
          class: "OAuthAuthenticator",
          issuer: provider.issuer,
          requiredAudience: "uftp",
        }),
        "share.maxPerUser": "0",
        // Clients use one name for both, as behind a load balancer.
        "container.externalurl": "https://uftp.example.org",
      },
    });
    const { instances, server } = several;
    const [one, two] = instances;
    assert.ok(one && two);
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
        for (let round = 0; round < 8; round++) {
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
      await until(async () => (await one.ask("/health/ready")).json()["degraded"] === false);
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
        const fresh = await several.startInstance(2);
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
  },
);
