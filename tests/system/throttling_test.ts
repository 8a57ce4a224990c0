/** Throttling slows guesses down, and guesses of others lock nobody out. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/stored_hash.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { LONG } from "../long/results.ts";
import type { Question } from "./ask.ts";
import { userToken } from "./every_method.ts";
import { until } from "../fixtures/deadline.ts";
import { ALICE, ALICE_DN, passwordLine, PASSWORDS, runReloadedService, STRANGER } from "./running_service.ts";

/** Number of users who sign in from one address. */
const MANY = LONG ? 1000 : 160;

/** Number of logins of one user that arrive at once, more than may wait from one address. */
const FIRST = LONG ? 100 : 40;

const users = Array.from({ length: MANY }, (_, i) => [`user${i}`, `secret-${i}`] as const);
const lines = users.map((user, i) => passwordLine(user, `CN=User ${i},O=Demo,C=EU`));
/** Users whose passwords no test sends. */
const victims = ["victim", "target"].map((name) => passwordLine([name, "unsaid-77"], `CN=${name},O=Demo`));
const slow = formatScrypt(await hashWithScrypt(ALICE[1], { ln: 13, r: 8, p: 1 }));

/** Each test has its own users and address, since a reload ends no delay. */
const { reloadWith, ...system } = await runReloadedService({
  passwords: PASSWORDS + [...victims, ...lines].join(""),
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
    "conf/slow.txt": ["newcomer", "known"].map((name) => `${name}:${slow}::CN=${name},O=Demo,C=EU\n`).join(
      "",
    ),
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const DEFAULT = {};
const STRICT = {
  "container.security.rest.authentication.order": "PASSWORD SSHKEY",
  "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
  "container.security.throttling.maxFailures": "3",
  "container.security.throttling.baseDelay": "30",
};
/** Like `STRICT`, but with passwords that take long to check. */
const SLOW = {
  ...STRICT,
  "container.security.rest.authentication.PASSWORD.file": "{folder}/conf/slow.txt",
};
const OFF = { "container.security.throttling.enable": "false" };
let inUse: Readonly<Record<string, string>> = DEFAULT;

/** Makes the service use these lines, and returns a client with the address. */
async function clientAt(localAddress: string, properties: Readonly<Record<string, string>>) {
  if (properties !== inUse) await reloadWith(properties);
  inUse = properties;
  const agent = new Agent({ keepAlive: true, localAddress });
  return {
    ask: (question: Question = {}) => system.ask("/rest/auth", { agent, ...question }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

Deno.test(`twenty users with wrong passwords delay none of ${MANY} users at the same address`, async () => {
  using client = await clientAt("127.0.0.2", DEFAULT);
  const refused: string[] = [];
  const outcomes = new Map<number, number>();
  const work = users.slice(20).map((user, i) => async () => {
    const guess = await client.ask({ as: [`user${i % 20}`, "mistyped"] });
    outcomes.set(guess.status, (outcomes.get(guess.status) ?? 0) + 1);
    const reply = await client.ask({ as: user });
    if (reply.status !== 200) refused.push(`${user[0]}: ${reply.status}`);
  });
  const workers = Array.from({ length: 8 }, async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
  });
  await Promise.all(workers);
  assert.deepEqual(refused, []);
  assert.equal((outcomes.get(401) ?? 0) + (outcomes.get(429) ?? 0), MANY - 20);
  assert((outcomes.get(429) ?? 0) > 0, "who mistypes all the time has to wait");
});

for (const [user, address] of [["alice", "127.0.0.3"], ["nobody", "127.0.0.4"]] as const) {
  Deno.test(`a few guesses at the password of ${user} lead to 429, and keys still work`, async () => {
    using client = await clientAt(address, STRICT);
    const guess = (password: string) => client.ask({ as: [user, password] });
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
    assert.equal((await client.ask({ headers })).status, 200);
    assert.equal((await client.ask({ as: STRANGER })).status, 200, "nor does anybody else wait");
    assert.equal((await client.ask()).status, 200);
  });
}

Deno.test("a password typed as user name appears in no log, however often", async () => {
  using client = await clientAt("127.0.0.5", STRICT);
  const statuses = [];
  for (let i = 0; i < 5; i++) {
    statuses.push((await client.ask({ as: ["CANARY in the wrong field", "x"] })).status);
  }
  assert.equal(statuses.at(-1), 429);
  const readLog = () => Deno.readTextFile(`${system.folder}/logs/authserver.log`);
  const refusal = /too many failed attempts .*user=unknown-\S+ address=127\.0\.0\.5 /;
  await until(async () => refusal.test(await readLog()), { what: "the log has the refusal" });
  assert.doesNotMatch(await readLog() + system.log.join(), /canary/i);
});

Deno.test("a right password in between does not offset guesses at another user's password", async () => {
  using client = await clientAt("127.0.0.6", STRICT);
  for (let i = 0; i < 4; i++) {
    assert.equal((await client.ask({ as: ["victim", `guess ${i}`] })).status, 401);
    assert.equal((await client.ask({ as: STRANGER })).status, 200);
  }
  assert.equal((await client.ask({ as: ["victim", "guess"] })).status, 429);
});

Deno.test(`${FIRST} concurrent first logins all succeed`, async () => {
  using client = await clientAt("127.0.0.7", SLOW);
  const replies = await Promise.all(
    Array.from({ length: FIRST }, () => client.ask({ as: ["newcomer", ALICE[1]] })),
  );
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
});

Deno.test("guesses at slowly hashed passwords do not lock out a known user at the same address", async () => {
  using client = await clientAt("127.0.0.8", SLOW);
  assert.equal((await client.ask({ as: ["known", ALICE[1]] })).status, 200);
  const guesses = Array.from({ length: 24 }, (_, i) => client.ask({ as: [`nobody${i}`, "guess"] }));
  // Not the cached right password: the service has to hash this one.
  assert.equal((await client.ask({ as: ["known", "mistyped"] })).status, 401);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert(statuses.includes(503), "the address has room for eight that wait");
  assert(statuses.includes(401));
});

Deno.test("throttling can be switched off", async () => {
  using client = await clientAt("127.0.0.9", OFF);
  for (let i = 0; i < 12; i++) {
    assert.equal((await client.ask({ as: ["target", `guess ${i}`] })).status, 401);
  }
});
