/** Refused callers learn nothing about existing users: all refusals look the same, and cost the same. */
import assert from "node:assert/strict";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/stored_hash.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import type { Question, Reply } from "./ask.ts";
import { userToken } from "./every_method.ts";
import { ALICE, ALICE_DN, PASSWORDS, runService } from "./running_service.ts";

/** Returns a password file in which the hash of `sam` has this cost. */
async function passwordsWithScrypt(ln: number): Promise<string> {
  const sam = formatScrypt(await hashWithScrypt("right-one", { ln, r: 8, p: 1 }));
  return `${PASSWORDS}sam:${sam}::CN=Sam,O=Demo,C=EU\ndisabled::salt:CN=Disabled,O=Demo,C=EU\n`;
}

const system = await runService({
  passwords: await passwordsWithScrypt(10),
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    "container.security.throttling.enable": "false",
  },
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n` +
      `spoilt:ssh-ed25519 AAAA:CN=Spoilt,O=Demo,C=EU\n`,
  },
  servers: {
    HPC: [{
      users: {
        dora: {
          uid: 1001,
          home: "/home/dora",
          groups: ["users"],
          keyFiles: { ".ssh/authorized_keys": `${publicLine("user_rsa2048")}\n` },
        },
        keyless: { uid: 1002, home: "/home/keyless", groups: ["users"] },
        fay: {
          uid: 1003,
          home: "/home/fay",
          groups: ["users"],
          keyFiles: { ".ssh/authorized_keys": `${publicLine("user_rsa2048")}\n` },
        },
        newcomer: { uid: 1004, home: "/home/newcomer", groups: ["users"] },
      },
    }],
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const password = (user: string, text: string): Question => ({ as: [user, text] });
const token = (user: string, key = "other_ed25519"): Question => ({
  headers: { Authorization: `Bearer ${userToken(user, key)}` },
});
const TOKEN: Question = { headers: { Authorization: "Bearer x" } };
const KINDS: Record<string, () => Question> = {
  "an unknown user": () => password("nobody", "guess"),
  "a wrong password": () => password("alice", "guess"),
  "an empty password": () => password("alice", ""),
  "a wrong password of a user with scrypt": () => password("sam", "guess"),
  "a disabled entry": () => password("disabled", ""),
  "the name of a system account": () => password("root", "guess"),
  "a wrong key": () => token("alice"),
  "a wrong key of a user with keys on a daemon": () => token("dora"),
  "a token of a user without keys": () => token("keyless"),
  "a token of a user whose line cannot be used": () => token("spoilt"),
  "a token of an unknown user": () => token("nobody"),
  "a token of root": () => token("root"),
  "a malformed token": () => TOKEN,
  "credentials that cannot be read": () => ({ headers: { Authorization: "Basic ???" } }),
};

/** Returns an answer without the parts that differ between any two requests. */
function seen(reply: Reply) {
  const { date: _, "x-request-id": id, ...headers } = reply.headers;
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  return { status: reply.status, headers, text: reply.text.replace(String(id), "<id>") };
}

const WANTED: [string, { path?: string; accept?: string; body?: unknown }][] = [
  ["the list of servers", {}],
  ["an HTML page", { accept: "text/html" }],
  ["a session", { path: "/rest/auth/HPC", body: { serverPath: "" } }],
  ["a token", { path: "/rest/auth/token", accept: "text/plain" }],
];
for (const [what, { path = "/rest/auth", accept = "application/json", body }] of WANTED) {
  Deno.test(`refused requests for ${what} get the same answer, whatever the reason`, async () => {
    const ask = async (question: Question) =>
      seen(
        await system.ask(path, {
          ...question,
          ...(body !== undefined && { body }),
          headers: { Accept: accept, ...question.headers },
        }),
      );
    const refused = await ask(password("nobody", "x"));
    // A caller with a token learns that it is invalid (RFC 6750, 3.1), alike for every token.
    const refusedToken = await ask(TOKEN);
    assert.deepEqual([refused.status, refusedToken.status], [401, 401]);
    const challenge = `${refused.headers["www-authenticate"]}, error="invalid_token"`;
    assert.deepEqual(refusedToken, {
      ...refused,
      headers: { ...refused.headers, "www-authenticate": challenge },
    });
    for (const [kind, question] of Object.entries(KINDS)) {
      const asked = question();
      const hasToken = asked.headers?.["Authorization"]?.startsWith("Bearer ") === true;
      assert.deepEqual(await ask(asked), hasToken ? refusedToken : refused, kind);
    }
  });
}

/**
 * Returns the milliseconds that the service has computed so far, as Linux counts them: 100 ticks a second.
 */
async function computed(): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${system.service.pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

Deno.test("a wrong password costs the same whether or not the user exists, and whatever the hash", async () => {
  const before = system.log.length;
  await system.replace("conf/users.txt", await passwordsWithScrypt(14)); // long enough for a comparison
  await system.logged(/file read again.*users/, before);
  const cost = async (question: (attempt: number) => Question) => {
    const before = await computed();
    for (let attempt = 0; attempt < 4; attempt++) await system.ask("/rest/auth", question(attempt));
    return await computed() - before;
  };
  await cost(() => ({ as: ALICE })); // warms up the engine
  const cheap = await cost(() => ({ as: ALICE }));
  const scrypt = await cost((attempt) => password("sam", `guess ${attempt}`));
  assert(scrypt > 3 * cheap, `or there is nothing to compare: ${scrypt} ms beside ${cheap} ms`);
  for (const user of ["nobody", "alice", "disabled"]) {
    const time = await cost((attempt) => password(user, `guess ${attempt}`));
    assert(time > scrypt / 3 && time < scrypt * 3, `${user}: ${time} ms beside ${scrypt} ms`);
  }
});

Deno.test("the service asks a daemon about known and unknown users alike", async () => {
  const asked = (user: string) =>
    system.daemon().requests.filter(({ values }) => values?.get("user") === user).length;
  for (const user of ["fay", "newcomer", "stranger"]) { // nobody asked about them before
    await system.ask("/rest/auth", token(user));
    assert.equal(asked(user), 1, user);
  }
  for (const user of ["alice", "spoilt", "root"]) assert.equal(asked(user), 0, user);
});
