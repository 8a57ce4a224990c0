/** Requirements of servers for logins: method, class, age and network. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { createAuthority } from "../pki/authority.ts";
import type { Question } from "./ask.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { authenticatorProperties, userToken } from "./every_method.ts";
import { ALICE, ALICE_DN, runService } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const signer = createSigner("EdDSA", "1");
provider.keys.push(signer.jwk);
const system = await runService({
  authority,
  servers: Object.fromEntries(
    ["HPC", "MFA", "NEW", "OFFICE", "HERE"].map((name) => [name, [{ maxSessions: 1000 }]]),
  ),
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY OAUTH",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    ...authenticatorProperties("OAUTH", {
      issuer: provider.issuer,
      requiredAudience: "uftp",
      identityTemplate: "CN=%sub%,O=Demo,C=EU",
    }),
    "authservice.server.MFA.methods": "OAUTH",
    "authservice.server.MFA.requiredAcr": "mfa",
    "authservice.server.NEW.maxAuthAge": "600",
    "authservice.server.OFFICE.networks": "192.0.2.0/24",
    "authservice.server.HERE.networks": "127.0.0.0/8,::1",
    "share.servers": "HPC MFA",
    "persistence.directory": "{folder}/data",
  },
  files: { "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n` },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const now = Math.floor(Date.now() / 1000);
const bearer = (text: string): Question => ({ headers: { Authorization: `Bearer ${text}` } });
const oauth = (claims: object) =>
  bearer(
    signer.sign({
      iss: provider.issuer,
      sub: "alice",
      aud: "uftp",
      client_id: "uftp",
      scope: "x",
      exp: now + 900,
      ...claims,
    }),
  );

const sshKey = (claims: Readonly<Record<string, unknown>>) =>
  bearer(userToken("alice", "user_ed25519", { claims }));

/** Returns the servers that open a session for a login; the list of servers must predict them. */
async function usable(as: Question): Promise<string> {
  const whole = await system.ask("/rest/auth", as);
  assert.equal(whole.status, 200, whole.text);
  const list = whole.json();
  const open: string[] = [];
  for (const name of ["HPC", "MFA", "NEW", "OFFICE", "HERE"]) {
    const reply = await system.ask(`/rest/auth/${name}`, { ...as, body: { serverPath: "" } });
    const entry = JSON.parse(JSON.stringify(list[name]));
    assert.equal(entry.refusal?.code, reply.status === 200 ? undefined : reply.json()["code"], reply.text);
    assert.equal(entry.uid, reply.status === 200 ? "alice" : undefined);
    if (reply.status === 200) open.push(name);
    else assert.equal(reply.status, 403);
  }
  return open.join(" ");
}

async function tokenOf(as: Question, query = ""): Promise<Question> {
  const reply = await system.ask(`/rest/auth/token${query}`, {
    ...as,
    headers: { ...as.headers, Accept: "text/plain" },
  });
  assert.equal(reply.status, 200, reply.text);
  return bearer(reply.text);
}

Deno.test("a server accepts only sufficient logins, as the list predicts, and a token inherits its login", async () => {
  for (
    const [as, expected] of [
      [{ as: ALICE }, "HPC NEW HERE"],
      [oauth({}), "HPC HERE"],
      [oauth({ acr: "mfa", auth_time: now - 10 }), "HPC MFA NEW HERE"],
      [oauth({ acr: "mfa", auth_time: now - 700 }), "HPC MFA HERE"],
      [oauth({ acr: "pwd", auth_time: now - 10 }), "HPC NEW HERE"],
      [sshKey({}), "HPC NEW HERE"],
      [sshKey({ iat: now - 700 }), "HPC HERE"],
      [sshKey({ iat: undefined }), "HPC HERE"],
      [sshKey({ iat: now + 3000, exp: now + 80_000 }), "HPC HERE"], // else always new
    ] as const
  ) {
    assert.equal(await usable(as), expected);
    const own = await tokenOf(as, "?renewable=true");
    assert.equal(await usable(own), expected, "a token");
    assert.equal(await usable(await tokenOf(own)), expected, "a renewed token");
  }
});

Deno.test("only sufficient logins can create, see and use shares and links on a server with requirements", async () => {
  const strong = oauth({ acr: "mfa" });
  const path = "/rest/share/MFA";
  const body = { path: "conf/ca.pem", user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", access: "READ" };
  const weak = await system.ask(path, { as: ALICE, body });
  assert.deepEqual([weak.status, weak.json()["code"]], [403, "ERR_STRONGER_LOGIN_NEEDED"]);
  assert.equal((await system.ask(path, { as: ALICE })).status, 403);
  assert.equal((await system.ask("/rest/share/HPC", { as: ALICE, body })).status, 201);
  const made = await system.ask(path, { ...strong, body });
  assert.equal(made.status, 201, made.text);
  const link = new URL(String(made.headers.location)).pathname.replace("/share/", "/access/");
  assert.equal((await system.ask(link, { as: ALICE })).status, 403);
  assert.equal((await system.ask(link)).status, 401);
});

Deno.test("client addresses in a session request must be in the server's networks, too", async () => {
  const reply = await system.ask("/rest/auth/HERE", {
    as: ALICE,
    body: { serverPath: "", client: "127.0.0.1,192.0.2.7" },
  });
  assert.deepEqual([reply.status, reply.json()["code"]], [403, "ERR_STRONGER_LOGIN_NEEDED"]);
});

const needs = {
  mfa: "a login by OAUTH; a login with authentication context class (acr) mfa",
  new: "a login at most 600 seconds old",
  office: "a client address in the networks of this server",
};

Deno.test("check shows what servers require of logins", async () => {
  const check = async (...args: readonly string[]) => {
    const io = recordedIo();
    assert.equal(await runCommand(["check", "--config", system.main, ...args], io), 0, io.err);
    return io.out;
  };
  const lines = (await check()).split("\n").filter((line) => line.startsWith("logins "));
  const shown = [["MFA", needs.mfa], ["NEW", needs.new], ["OFFICE", needs.office], ["HERE", needs.office]];
  assert.deepEqual(lines, shown.map((each) => `logins   ${each.join(": ")}`));
  const { logins } = JSON.parse(await check("--json"));
  assert.deepEqual(logins, shown.map(([server, requires]) => ({ server, requires })));
});

Deno.test("whoami-test shows the requirements, and decides like the service", async () => {
  const whoami = async (...args: readonly string[]) => {
    const io = recordedIo({ input: `${ALICE[1]}\n` });
    await runCommand(["whoami-test", ...args, "--config", system.main, "--json"], io);
    const { servers } = JSON.parse(io.out);
    return servers.map((
      { server, requires, refusal }: Record<string, string>,
    ) => [server, requires, refusal]);
  };
  const assumed = await whoami(ALICE_DN);
  assert.deepEqual(assumed[1], ["MFA", needs.mfa, undefined]);
  assert.deepEqual(assumed[0], ["HPC", undefined, undefined]);
  assert.match(assumed[3]?.[2] ?? "", /a client address in the networks/, "not at the default address");
  const inside = await whoami(ALICE_DN, "--from", "192.0.2.9");
  assert.deepEqual(inside[3], ["OFFICE", needs.office, undefined]);
  assert.match(inside[4]?.[2] ?? "", /a client address in the networks/);
  const shown = await whoami(ALICE[0], "--password", "--from", "192.0.2.9");
  assert.match(
    shown[1]?.[2] ?? "",
    /another login: a login by OAUTH; a login with authentication context class/,
  );
  assert.deepEqual(shown[3], ["OFFICE", needs.office, undefined]);
  assert.match(shown[4]?.[2] ?? "", /a client address in the networks/);
});
