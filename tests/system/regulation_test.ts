/** Guessing is slowed down, and nobody is kept out by the guesses of others. */
import assert from "node:assert/strict";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/scrypt_hash.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { userToken } from "./every_method.ts";
import { ALICE, ALICE_DN, runService, STRANGER } from "./running_service.ts";

const setting = {
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    "container.security.regulation.maxFailures": "3",
    "container.security.regulation.baseDelay": "30",
  },
  files: { "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n` },
};

for (const user of ["alice", "nobody"]) {
  Deno.test(`guesses at the password of ${user} are answered with 429 after a few, and keys still count`, async () => {
    await using system = await runService(setting);
    const guess = (password: string) => system.ask("/rest/auth", { as: [user, password] });
    const statuses = [];
    for (const password of ["a", "b", "c", "d"]) statuses.push((await guess(password)).status);
    assert.deepEqual(statuses, [401, 401, 401, 401]);
    const reply = await guess("e");
    assert.equal(reply.status, 429);
    assert.equal(reply.json().code, "ERR_TOO_MANY_FAILURES");
    const wait = Number(reply.headers["retry-after"]);
    assert(wait > 20 && wait <= 30, `Retry-After: ${wait}`);
    assert.equal((await guess(ALICE[1])).status, 429, "the right one neither");
    const headers = { Authorization: `Bearer ${userToken("alice", "user_ed25519")}` };
    assert.equal((await system.ask("/rest/auth", { headers })).status, 200);
    assert.equal(
      (await system.ask("/rest/auth", { as: STRANGER })).status,
      200,
      "nor does anybody else wait",
    );
    assert.equal((await system.ask("/rest/auth")).status, 200);
  });
}

Deno.test("a right password in between is no excuse for guesses at another's", async () => {
  await using system = await runService(setting);
  for (let i = 0; i < 4; i++) {
    assert.equal((await system.ask("/rest/auth", { as: ["alice", `guess ${i}`] })).status, 401);
    assert.equal((await system.ask("/rest/auth", { as: STRANGER })).status, 200);
  }
  assert.equal((await system.ask("/rest/auth", { as: ["alice", "guess"] })).status, 429);
});

Deno.test("a hundred first logins at the same moment are all let in", async () => {
  const slow = formatScrypt(await hashWithScrypt(ALICE[1], { ln: 12, r: 8, p: 1 }));
  await using system = await runService({ ...setting, passwords: `alice:${slow}::${ALICE_DN}\n` });
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => system.ask("/rest/auth", { as: ALICE })),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
});

Deno.test("regulation can be switched off", async () => {
  await using system = await runService({ properties: { "container.security.regulation.enable": "false" } });
  for (let i = 0; i < 12; i++) {
    assert.equal((await system.ask("/rest/auth", { as: ["alice", `guess ${i}`] })).status, 401);
  }
});
