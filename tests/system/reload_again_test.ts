/** Reloads that fail because a file is missing, and renewals of certificates at the same time. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { SignJWT } from "jose";
import { ALICE, ALICE_DN, runService } from "./running_service.ts";

const secretOf = (letter: string) => `${letter.repeat(40)}\n`;

Deno.env.set("AUTH_TEST_TEXT", "from outside");
/** Service whose files each test leaves usable. */
const system = await runService({
  properties: { "container.security.rest.jwt.hmacSecretFile": "{folder}/conf/hmac-secret" },
  files: { "conf/hmac-secret": secretOf("a") },
});
Deno.env.delete("AUTH_TEST_TEXT");
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

Deno.test("a reload that failed because of a missing file is retried when the file appears", async () => {
  const main = await Deno.readTextFile(system.main);
  const changed = main.replace("conf/users.txt", "conf/others.txt");
  assert.notEqual(changed, main);
  let before = system.log.length;
  await system.replace("conf/container.properties", changed);
  await system.service.reload();
  await system.logged(/the new configuration cannot be used, the one before stays/, before);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  before = system.log.length;
  await system.replace("conf/others.txt", "# nobody\n");
  await system.logged(/configuration reloaded/, before);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 401);
  await system.replace("conf/container.properties", main);
  await system.service.reload();
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
});

Deno.test("a changed secret file is reloaded; while it is unusable, the previous secret stays in use", async () => {
  const status = async (letter: string) => {
    const token = await new SignJWT({ sub: ALICE_DN, iss: "CN=Other,O=Demo,C=EU", etd: "true" })
      .setProtectedHeader({ alg: "HS256" }).setIssuedAt().setExpirationTime("5m")
      .sign(new TextEncoder().encode(secretOf(letter).trim()));
    return (await system.ask("/rest/auth", { headers: { authorization: `Bearer ${token}` } })).status;
  };
  assert.deepEqual([await status("a"), await status("b")], [200, 401]);
  let before = system.log.length;
  await system.replace("conf/hmac-secret", "");
  await system.logged(/the new configuration cannot be used, the one before stays/, before);
  assert.deepEqual([await status("a"), await status("b")], [200, 401]);
  before = system.log.length;
  await system.replace("conf/hmac-secret", secretOf("b"));
  await system.logged(/settings changed .*hmacSecret/, before);
  assert.deepEqual([await status("a"), await status("b")], [401, 200]);
});

Deno.test("a reload during a renewal does not restore the old certificate", async () => {
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({
        host: "127.0.0.1",
        port: system.port,
        servername: "localhost",
        ca: system.authority.certificate,
      }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      }).on("error", reject);
    });
  const first = await shown();
  const before = system.log.length;
  const next = system.authority.issue({ subject: "CN=AUTH,O=Demo,C=EU", names: ["localhost", "127.0.0.1"] });
  await system.replace("conf/auth-key.pem", next.key);
  await system.replace("conf/auth-cert.pem", next.certificate);
  const reloads = (async () => {
    for (let i = 0; i < 5; i++) await system.service.reload();
  })();
  await system.logged(/certificates renewed/, before);
  await reloads;
  assert.notEqual(await shown(), first);
});

Deno.test("a reload uses the environment of the start, which the process can no longer read", async () => {
  const main = await Deno.readTextFile(system.main);
  await system.replace(
    "conf/container.properties",
    `${main}authservice.server.HPC.description=\${AUTH_TEST_TEXT}\n`,
  );
  await system.service.reload();
  const reply = await system.ask("/rest/auth/HPC", { as: ALICE });
  assert.equal(reply.json().description, "from outside");
});
