/** Further conditions of access: providers that are down, missing credentials, access control that is off. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { runWithEveryMethod, userToken } from "./every_method.ts";
import { ALICE, runReloadedService, STRANGER } from "./running_service.ts";

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

/** Service with every authenticator; the last test that uses it ends its providers. */
const setting = await runWithEveryMethod();
Deno.test.afterAll(() => setting[Symbol.asyncDispose]());

Deno.test("a daemon that reports no keys affects only users who need them", async () => {
  const { system } = setting;
  system.daemon("TWO").fault = { kind: "not-in-acl" };
  const reply = await system.ask("/rest/auth", bearer(userToken("eve", "other_ed25519")));
  assert.equal(reply.status, 503, "the key could be on TWO");
  assert.equal((await system.ask("/rest/auth", bearer(userToken("alice", "user_ed25519")))).status, 200);
  const dora = bearer(userToken("dora", "user_rsa2048", { header: { alg: "RS256" } }));
  assert.equal((await system.ask("/rest/auth", dora)).status, 200, "HPC knows the key");
  system.daemon("TWO").fault = undefined;
});

Deno.test("while the identity providers are down, their tokens get 503 and other authenticators work", async () => {
  const { system, oidc, unity } = setting;
  for (const provider of [oidc, unity]) await provider[Symbol.asyncDispose]();
  const reply = await system.ask("/rest/auth", bearer("userinfo-token"));
  assert.equal(reply.status, 503);
  assert.equal(reply.json().code, "ERR_AUTHENTICATION_UNAVAILABLE");
  assert.match(reply.headers["retry-after"] ?? "", /^[1-9]\d*$/);
  assert.equal(reply.headers["www-authenticate"], undefined);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  assert.equal((await system.ask("/rest/auth", bearer(userToken("alice", "user_ed25519")))).status, 200);
  // The password file refuses it. A 503, because Unity might know it, would let an outage hide guesses.
  assert.equal((await system.ask("/rest/auth", { as: ["una", "sesame"] })).status, 401);
  const states = async () => {
    const { server } = JSON.parse((await system.ask("/rest/auth", { as: ALICE })).text);
    return Object.entries(server.externalConnections).map(([name, state]) =>
      `${name.split(" http")[0]} ${state}`
    );
  };
  await until(async () => (await states()).every((state) => !/TWO' DOWN|UNKNOWN/.test(state)), {
    what: "the states are known",
    everyMs: 100,
  });
  assert.deepEqual(
    await states(),
    [
      "UFTPD server 'HPC' OK",
      "UFTPD server 'TWO' OK",
      "Unity DOWN",
      "OIDC Server DOWN",
      "OIDC Server DOWN",
    ],
  );
});

const service = await runReloadedService({});
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

Deno.test("failOnMissingAuthCredentials refuses callers without credentials, and no others", async () => {
  const system = await service.reloadWith({
    "container.security.rest.authentication.failOnMissingAuthCredentials": "true",
  });
  for (const path of ["/rest/auth", "/rest/auth/HPC", "/rest/auth/certificate"]) {
    const reply = await system.ask(path, { headers: { Accept: "*/*" } });
    assert.equal(reply.status, 401, path);
    assert.equal(
      reply.headers["www-authenticate"],
      'Basic realm="DEMO", charset="UTF-8", Bearer realm="DEMO"',
    );
  }
  assert.equal((await system.ask("/health/live")).status, 200);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
});

Deno.test("without access control, all users with an account may do everything", async () => {
  const before = service.log.length;
  const system = await service.reloadWith({ "container.security.accesscontrol": "false" });
  const session = async (as: readonly [string, string] | undefined) =>
    (await system.ask("/rest/auth/HPC", { ...(as && { as }), body: { serverPath: "" } })).json();
  assert.equal((await session(ALICE)).success, true);
  assert.equal((await session(STRANGER)).code, "ERR_NO_ACCOUNT");
  assert.equal((await session(undefined)).status, 401);
  assert.equal(
    (await system.ask("/rest/auth", { as: ["alice", "guess"] })).status,
    401,
    "a wrong one stays wrong",
  );
  await system.logged(/accesscontrol.*everybody may do everything/, before);
});
