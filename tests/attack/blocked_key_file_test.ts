/** An account on a transfer host has a pipe as its key file: reading it never ends. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ALICE, runService } from "../system/running_service.ts";
import { authenticatorProperties, userToken } from "../system/every_method.ts";

const PIPES = Array.from({ length: 4 }, (_, i) => `mallory${i}`);
const KEYS = ".ssh/authorized_keys";

Deno.test("endless key files block neither sessions nor other users' keys", async () => {
  const account = (name: string, uid: number, keys: string | null) =>
    [name, { uid, home: `/home/${name}`, groups: ["users"], keyFiles: { [KEYS]: keys } }] as const;
  await using system = await runService({
    servers: {
      HPC: [{
        maxSessions: 1000,
        users: Object.fromEntries([
          account("alice", 1000, ""),
          account("dora", 1001, `${publicLine("user_ed25519")}\n`),
          ...PIPES.map((name, i) => account(name, 2000 + i, null)),
        ]),
      }],
    },
    properties: {
      "container.security.rest.authentication.order": "PASSWORD SSHKEY",
      ...authenticatorProperties("SSHKEY", { class: "SSHKeyAuthenticator" }),
    },
  });
  const as = (user: string) => ({
    headers: { Authorization: `Bearer ${userToken(user, "user_ed25519")}` },
  });
  let waiting = PIPES.length;
  const blocked = PIPES.map((name) => system.ask("/rest/auth", as(name)).finally(() => waiting--));
  const asked = () =>
    system.daemon().requests.some(({ values }) => values?.get("user")?.startsWith("mallory"));
  await until(asked, { everyMs: 10 });
  const session = () => system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal((await session()).status, 200);
  assert.equal((await system.ask("/rest/auth", as("dora"))).status, 200);
  assert.equal((await session()).status, 200);
  assert.equal(waiting, PIPES.length, "all had their turns while the key files were still being read");
  await system.daemon().stop();
  for (const reply of await Promise.all(blocked)) assert.equal(reply.status, 503);
});
