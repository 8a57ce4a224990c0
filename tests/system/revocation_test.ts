/** Certificates of daemons where revocation lists are required. */
import assert from "node:assert/strict";
import { ALICE, runService } from "./running_service.ts";

const TRUST = "container.security.truststore";

Deno.test("a daemon is trusted only once a revocation list of its authority exists", async () => {
  await using system = await runService({
    properties: {
      [`${TRUST}.crlMode`]: "REQUIRE",
      [`${TRUST}.crlLocations.1`]: "conf/*.crl",
      [`${TRUST}.updateInterval`]: "1",
    },
  });
  await system.logged(/cannot be held against a valid revocation list of its authority/);
  const begin = () => system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal((await begin()).status, 503);
  const lines = system.log.length;
  await system.replace("conf/ca.crl", system.authority.revoke([]));
  await system.logged(/daemon is up/, lines);
  assert.equal((await begin()).status, 200);
});
