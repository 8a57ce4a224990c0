/** Throttling slows guesses down, and guesses of others lock nobody out. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/stored_hash.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { userToken } from "./every_method.ts";
import { until } from "../fixtures/deadline.ts";
import { ALICE, ALICE_DN, passwordLine, PASSWORDS, runService, STRANGER } from "./running_service.ts";

const setting = {
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    "container.security.throttling.maxFailures": "3",
    "container.security.throttling.baseDelay": "30",
  },
  files: { "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n` },
};

for (const user of ["alice", "nobody"]) {
  Deno.test(`guesses at the password of ${user} are answered with 429 after a few, and keys still work`, async () => {
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

Deno.test("a password that is typed in the place of the name is in no log, however often it is", async () => {
  await using system = await runService(setting);
  const statuses = [];
  for (let i = 0; i < 5; i++) {
    statuses.push((await system.ask("/rest/auth", { as: ["CANARY in the wrong field", "x"] })).status);
  }
  assert.equal(statuses.at(-1), 429);
  const readLog = () => Deno.readTextFile(`${system.folder}/logs/authserver.log`);
  await until(async () => /too many failed attempts .*user=unknown-/.test(await readLog()), {
    what: "the log has the refusal",
  });
  assert.doesNotMatch(await readLog() + system.log.join(), /canary/i);
});

Deno.test("a right password in between does not excuse guesses at another user's", async () => {
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

Deno.test("throttling can be switched off", async () => {
  await using system = await runService({
    properties: { "container.security.throttling.enable": "false" },
  });
  for (let i = 0; i < 12; i++) {
    assert.equal((await system.ask("/rest/auth", { as: ["alice", `guess ${i}`] })).status, 401);
  }
});

Deno.test("twenty users who always mistype hold back none of a thousand users at the same address", async () => {
  const users = Array.from({ length: 1000 }, (_, i) => [`user${i}`, `secret-${i}`] as const);
  const lines = users.map((user, i) => passwordLine(user, `CN=User ${i},O=Demo,C=EU`)).join("");
  await using system = await runService({ passwords: PASSWORDS + lines });
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: system.authority.certificate });
  const refused: string[] = [];
  const outcomes = new Map<number, number>();
  const work = users.slice(20).map((user, i) => async () => {
    const guess = await system.ask("/rest/auth", { as: [`user${i % 20}`, "mistyped"], agent });
    outcomes.set(guess.status, (outcomes.get(guess.status) ?? 0) + 1);
    const reply = await system.ask("/rest/auth", { as: user, agent });
    if (reply.status !== 200) refused.push(`${user[0]}: ${reply.status}`);
  });
  const workers = Array.from({ length: 8 }, async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
  });
  await Promise.all(workers);
  agent.destroy();
  assert.deepEqual(refused, []);
  assert.equal((outcomes.get(401) ?? 0) + (outcomes.get(429) ?? 0), 980);
  assert((outcomes.get(429) ?? 0) > 0, "who mistypes all the time has to wait");
});

Deno.test("guesses at slowly hashed passwords leave a turn to a known user of the same address", async () => {
  const dear = formatScrypt(await hashWithScrypt(ALICE[1], { ln: 14, r: 8, p: 1 }));
  await using system = await runService({ passwords: `alice:${dear}::${ALICE_DN}\n` });
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  const guesses = Array.from(
    { length: 60 },
    (_, i) => system.ask("/rest/auth", { as: [`nobody${i}`, "guess"] }),
  );
  // Not the cached right password: the service has to hash this one.
  assert.equal((await system.ask("/rest/auth", { as: [ALICE[0], "mistyped"] })).status, 401);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert(statuses.includes(503), "the address has room for eight that wait");
  assert(statuses.includes(401));
});
