/** OpenSSH certificates: uploaded once, with curl -T; then stock clients sign in with the plain key. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ApiDescription } from "../openapi/api_description.ts";
import { ask } from "./ask.ts";
import { authenticatorProperties, userToken } from "./every_method.ts";
import { createSite, runAt, runReloadedService, type SystemUnderTest } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

const ANN_DN = "CN=ann,OU=ssh-certificates";

/** Lines with which only users name authorities, in their own `authorized_keys`. */
const USERS_LINES = {
  "authservice.servers": "OWN TWO",
  "container.security.rest.authentication.order": "SSHKEY",
  "persistence.directory": "{folder}",
  ...authenticatorProperties("SSHKEY", { certificateAuthorities: "{folder}/conf/no_ca.pub" }),
};

/** Returns further lines, with authorities of the operator. */
function operatorsLines(more: Readonly<Record<string, string>> = {}) {
  return {
    "authservice.servers": "HPC",
    "container.security.throttling.maxFailures": "1",
    ...authenticatorProperties("SSHKEY", {
      certificateAuthorities: "{folder}/conf/ssh_ca.pub",
      revokedKeys: "{folder}/conf/revoked",
      certificateIdentity: "CN=%principal%,OU=ssh-certificates",
      ...more,
    }),
  };
}

const account = (home: string, line: string) => ({
  uid: 1000,
  home,
  groups: ["users"],
  keyFiles: { ".ssh/authorized_keys": `${line}\n` },
});
/** Authority that is unknown to the operator where users name it in their own `authorized_keys`. */
const AUTHORITY = certificateLine("ca_ed25519");

/** Service with three servers; each test uses some of them. */
const { reloadWith, ...system } = await runReloadedService({
  properties: USERS_LINES,
  map: JSON.stringify({ [ANN_DN]: { role: "user", xlogin: "alice" } }),
  files: {
    "conf/ssh_ca.pub": `${AUTHORITY}\n`,
    "conf/no_ca.pub": "# none of the operator's\n",
    "conf/revoked": "# none\n",
    "conf/keys.txt": `ann:${publicLine("user_ed25519")}:${ANN_DN}\n`,
  },
  servers: {
    HPC: [{ users: { alice: account("/home/alice", publicLine("user_ed25519")) } }],
    OWN: [{
      users: {
        ann: account("/home/x", `cert-authority ${AUTHORITY}`),
        bob: account("/home/x", `cert-authority ${AUTHORITY}`),
        dora: account("/home/x", `cert-authority,principals="ann" ${AUTHORITY}`),
        carl: account("/home/x", `cert-authority,principals="somebody" ${AUTHORITY}`),
        far: account("/home/x", `cert-authority,principals="ann",from="192.0.2.0/24" ${AUTHORITY}`),
        gina: account("/home/x", AUTHORITY),
      },
    }],
    TWO: [{ users: { ann: account("/home/x", "# nothing") } }],
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const OPERATORS_LINES = operatorsLines();
let inUse: Readonly<Record<string, string>> = {};

/** Makes the service use further lines. */
async function use(lines: Readonly<Record<string, string>>): Promise<void> {
  if (lines !== inUse) await reloadWith(lines);
  inUse = lines;
}

const PATH = "/rest/auth/ssh-certificate";

type Client = Pick<SystemUnderTest, "agent" | "ask">;

/** Returns a client with its own address, for which its failures count. */
const clientAt = (localAddress: string): Client => ({
  ask: system.ask,
  agent: new Agent({ keepAlive: true, localAddress }),
});

const upload = (name: string, { agent, ask }: Client = system) =>
  ask(PATH, {
    agent,
    method: "PUT",
    body: `${certificateLine(name)}\n`,
    headers: { "Content-Type": "text/plain" },
  });

/** Logs in with the user's key, and returns status and text of the answer. */
async function signIn(
  user = "ann",
  { key = "user_ed25519", server = "HPC", at = system }: {
    readonly key?: string;
    readonly server?: string;
    readonly at?: SystemUnderTest;
  } = {},
) {
  const { status, text } = await at.ask(`/rest/auth/${server}`, {
    headers: { Authorization: `Bearer ${userToken(user, key)}` },
    body: { serverPath: "" },
  });
  return { status, text };
}

const forget = ({ agent, ask }: Client = system, name = "for_ever") =>
  ask(PATH, { agent, method: "DELETE", body: certificateLine(name) });

Deno.test("a key is accepted as long as an uploaded certificate covers it", async () => {
  await use(OPERATORS_LINES);
  assert.equal((await signIn()).status, 401);
  const reply = await upload("for_ever");
  assert.equal(reply.status, 200, reply.text);
  const { validAfter, key, ...shown } = reply.json();
  assert.deepEqual({ validAfter, key }, {
    validAfter: "1970-01-01T00:00:00.000Z",
    key: "SHA256:NwVjVK/Fr9D1l+aN3mIy5/e6oKOTysozkLJbeCaY1qY",
  });
  assert.deepEqual([shown["principals"], shown["keyId"], shown["validBefore"]], [
    ["ann"],
    "for_ever",
    undefined,
  ]);
  await system.logged(/"audit certificate"|audit certificate.*for_ever/);

  assert.equal((await signIn()).status, 200);
  assert.equal(system.daemon().sessionRequests.at(-1)?.get("user"), "alice");
  assert.equal((await signIn("bob")).status, 401, "another principal");
  assert.equal((await signIn("ann", { key: "other_ed25519" })).status, 401, "another key");

  assert.equal((await forget()).status, 204);
  assert.equal((await signIn()).status, 401);
  assert.equal((await forget()).status, 404);
});

Deno.test("an uploaded certificate takes effect on another instance at once, and after kill -9, until it is deleted", async () => {
  await use(OPERATORS_LINES);
  const text = await Deno.readTextFile(system.main);
  await system.replace(
    "conf/second.properties",
    text.replace("/logs/authserver.log", "/logs2/authserver.log"),
  );
  const second = {
    ...system,
    main: `${system.folder}/conf/second.properties`,
    // The first instance owns the site, and disposes of it.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const two = await runAt(second);
  assert.equal((await upload("for_ever", two)).status, 200);
  assert.deepEqual([(await signIn()).status, (await signIn("ann", { at: two })).status], [200, 200]);
  Deno.kill(two.service.pid, "SIGKILL");
  await assert.rejects(two.service.stopped);
  await using again = await runAt(second);
  assert.equal((await signIn("ann", { at: again })).status, 200);
  assert.equal((await forget(again)).status, 204);
  assert.equal((await signIn("ann", { at: again })).status, 401);
});

Deno.test("an invalid certificate is refused with the reason, and further attempts are throttled", async () => {
  await use(OPERATORS_LINES);
  const client = clientAt("127.0.0.2");
  for (
    const [name, reason] of [
      ["by_other", /not accepted: its authority is not among those that are trusted/],
      ["for_host", /not accepted: certificate is not one for a user/],
      ["one_day", /not accepted: it has ended/],
      ["ca_ed25519", /not accepted: expected an OpenSSH certificate/],
    ] as const
  ) {
    const reply = await upload(name, client);
    assert.equal(reply.status, 403);
    assert.match(reply.text, reason);
  }
  const statuses: number[] = [];
  for (let i = 0; i < 40 && !statuses.includes(429); i++) {
    statuses.push((await upload("by_other", client)).status);
  }
  assert(statuses.includes(429), statuses.join());
  client.agent.destroy();
});

Deno.test("repeated deletions of missing certificates are throttled, too", async () => {
  await use(OPERATORS_LINES);
  const client = clientAt("127.0.0.3");
  const statuses: number[] = [];
  for (let i = 0; i < 45 && !statuses.includes(429); i++) {
    statuses.push((await forget(client, "by_other")).status);
  }
  assert(statuses[0] === 404 && statuses.includes(429), statuses.join());
  client.agent.destroy();
});

Deno.test("a revocation takes effect at once, and certificates of a removed authority are refused", async () => {
  await use(OPERATORS_LINES);
  assert.equal((await upload("for_ever")).status, 200);
  assert.equal((await signIn()).status, 200);
  let lines = system.log.length;
  await system.replace("conf/revoked", `${publicLine("user_ed25519")}\n`);
  await system.logged(/file read again.*revoked/, lines);
  assert.equal((await signIn()).status, 401);
  assert.match((await upload("for_ever")).text, /it was revoked/);
  lines = system.log.length;
  await system.replace("conf/revoked", "# none\n");
  await system.logged(/file read again.*revoked/, lines);
  assert.equal((await signIn()).status, 200);
  lines = system.log.length;
  await system.replace("conf/ssh_ca.pub", `${certificateLine("ca_other")}\n`);
  await system.logged(/file read again.*ssh_ca/, lines);
  assert.equal((await signIn()).status, 401);
  await system.replace("conf/ssh_ca.pub", `${AUTHORITY}\n`);
  assert.equal((await forget()).status, 204);
});

Deno.test("with only=certificates no key is accepted without a certificate, from any source", async () => {
  await use(operatorsLines({ only: "certificates", file: "{folder}/conf/keys.txt" }));
  assert.equal((await signIn()).status, 401);
  assert.equal((await signIn("alice")).status, 401);
  assert.equal((await upload("for_ever")).status, 200);
  assert.equal((await signIn()).status, 200);
  assert.equal((await forget()).status, 204);
});

Deno.test("without authorities, the resource for certificates does not exist", async () => {
  await use({ "container.security.rest.authentication.order": "PASSWORD" });
  const description = new ApiDescription((await system.ask("/openapi.json")).json(), ["DEMO", "Demo-Site"]);
  const { authority, port } = system;
  const reply = await ask(`https://localhost:${port}${PATH}`, authority.certificate, {
    method: "PUT",
    body: "x",
  });
  assert.equal(reply.status, 405); // a server could have that name
  description.check({
    method: "PUT",
    path: PATH,
    ...reply,
    header: (name) => reply.headers[name.toLowerCase()]?.toString(),
  });
});

Deno.test("a service whose list of revoked keys is broken does not start, and names the file", async () => {
  await using site = await createSite({
    properties: { ...USERS_LINES, ...operatorsLines() },
    files: { "conf/ssh_ca.pub": `${AUTHORITY}\n`, "conf/revoked": "ssh-ed25519 x\n" },
  });
  const running = runAuthserver(["serve", "--config", site.main]);
  assert.notEqual(await running.ended, 0);
  assert.match(running.printed, /\/conf\/revoked: line 1: key is not in base64/);
});

const uploadFor = (user: string, method = "PUT") =>
  system.ask(`${PATH}?user=${user}`, {
    method,
    body: `${certificateLine("for_ever")}\n`,
    headers: { "Content-Type": "text/plain" },
  });

Deno.test("an authority that users name in their own authorized_keys is trusted for them, and for nobody else", async () => {
  await use({});
  const atOwn = { server: "OWN" };
  assert.equal((await upload("for_ever")).status, 403, "the operator has not named it");
  assert.equal((await signIn("ann", atOwn)).status, 401);
  for (
    const [user, reason] of [
      ["bob", /it does not name the account/],
      ["carl", /its authority may certify none of its principals/],
      ["gina", /its authority is not among those that are trusted/],
      ["nobody", /its authority is not among those that are trusted/],
      ["root", /expected a user's account/],
      ["a%20b", /expected a user's account/],
    ] as const
  ) {
    const reply = await uploadFor(user);
    assert.equal(reply.status, 403, user);
    assert.match(reply.text, reason);
  }
  for (const user of ["ann", "dora", "far"]) {
    const reply = await uploadFor(user);
    assert.deepEqual([reply.status, reply.json()["principals"]], [200, [user]], reply.text);
  }
  assert.equal((await signIn("ann", atOwn)).status, 200);
  assert.equal(system.daemon("OWN").sessionRequests.at(-1)?.get("user"), "ann");
  assert.equal(
    (await signIn("dora", atOwn)).status,
    200,
    "by a principal of another name, as the line says",
  );
  for (const [user, key] of [["far", undefined], ["bob", undefined], ["ann", "other_ed25519"]] as const) {
    assert.equal((await signIn(user, { ...atOwn, key })).status, 401, user);
  }
  const elsewhere = await system.ask("/rest/auth/TWO", {
    headers: { Authorization: `Bearer ${userToken("ann", "user_ed25519")}` },
    body: { serverPath: "" },
  });
  assert.equal(elsewhere.json()["code"], "ERR_NO_ACCOUNT", "that daemon's ann names no authority");
  assert.equal((await uploadFor("ann", "DELETE")).status, 204);
  assert.equal((await signIn("ann", atOwn)).status, 401);
  assert.equal((await signIn("dora", atOwn)).status, 200);
});

Deno.test("with only=certificates, authorities that users name are not trusted", async () => {
  await use(authenticatorProperties("SSHKEY", { only: "certificates" }));
  const reply = await uploadFor("ann");
  assert.equal(reply.status, 403);
  assert.match(reply.text, /only the operator's/);
  assert.equal((await signIn("ann", { server: "OWN" })).status, 401);
});
