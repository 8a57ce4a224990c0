/** OpenSSH certificates: uploaded once, with curl -T; then stock clients sign in with the plain key. */
import assert from "node:assert/strict";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { authenticatorProperties, userToken } from "./every_method.ts";
import { createSite, runAt, runService, type SystemUnderTest } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

const ANN_DN = "CN=ann,OU=ssh-certificates";

function settings(more: Readonly<Record<string, string>> = {}) {
  return {
    properties: {
      "container.security.rest.authentication.order": "SSHKEY",
      "persistence.directory": "{folder}",
      ...authenticatorProperties("SSHKEY", {
        certificateAuthorities: "{folder}/conf/ssh_ca.pub",
        revokedKeys: "{folder}/conf/revoked",
        certificateIdentity: "CN=%principal%,OU=ssh-certificates",
        ...more,
      }),
    },
    map: JSON.stringify({ [ANN_DN]: { role: "user", xlogin: "alice" } }),
    files: { "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n`, "conf/revoked": "# none\n" },
  };
}

const PATH = "/rest/auth/ssh-certificate";

const upload = (system: SystemUnderTest, name: string) =>
  system.ask(PATH, {
    method: "PUT",
    body: `${certificateLine(name)}\n`,
    headers: { "Content-Type": "text/plain" },
  });

/** Logs in with the user's key, and returns status and text of the answer. */
async function signIn(system: SystemUnderTest, user = "ann", key = "user_ed25519") {
  const { status, text } = await system.ask("/rest/auth/HPC", {
    headers: { Authorization: `Bearer ${userToken(user, key)}` },
    body: { serverPath: "" },
  });
  return { status, text };
}

/** Service for tests that leave it as it was. */
const shared = await runService(settings());
Deno.test.afterAll(() => shared[Symbol.asyncDispose]());

Deno.test("a key is accepted as long as an uploaded certificate covers it", async () => {
  const system = shared;
  assert.equal((await signIn(system)).status, 401);
  const reply = await upload(system, "for_ever");
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

  assert.equal((await signIn(system)).status, 200);
  assert.equal(system.daemon().sessionRequests.at(-1)?.get("user"), "alice");
  assert.equal((await signIn(system, "bob")).status, 401, "another principal");
  assert.equal((await signIn(system, "ann", "other_ed25519")).status, 401, "another key");

  const forget = () => system.ask(PATH, { method: "DELETE", body: certificateLine("for_ever") });
  assert.equal((await forget()).status, 204);
  assert.equal((await signIn(system)).status, 401);
  assert.equal((await forget()).status, 404);
});

Deno.test("a revocation takes effect at once, and certificates of a removed authority are refused", async () => {
  const system = shared;
  assert.equal((await upload(system, "for_ever")).status, 200);
  assert.equal((await signIn(system)).status, 200);
  let lines = system.log.length;
  await system.replace("conf/revoked", `${publicLine("user_ed25519")}\n`);
  await system.logged(/file read again.*revoked/, lines);
  assert.equal((await signIn(system)).status, 401);
  assert.match((await upload(system, "for_ever")).text, /it was revoked/);
  lines = system.log.length;
  await system.replace("conf/revoked", "# none\n");
  await system.logged(/file read again.*revoked/, lines);
  assert.equal((await signIn(system)).status, 200);
  lines = system.log.length;
  await system.replace("conf/ssh_ca.pub", `${certificateLine("ca_other")}\n`);
  await system.logged(/file read again.*ssh_ca/, lines);
  assert.equal((await signIn(system)).status, 401);
});

Deno.test("an uploaded certificate takes effect on another instance at once, and after kill -9, until it is deleted", async () => {
  const site = await createSite(settings());
  const text = await Deno.readTextFile(site.main);
  await site.replace("conf/second.properties", text.replace("/logs/authserver.log", "/logs2/authserver.log"));
  const one = await runAt(site);
  {
    // The first instance owns the site, and disposes of it.
    await using two = await runAt({
      ...site,
      main: `${site.folder}/conf/second.properties`,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
    assert.equal((await upload(one, "for_ever")).status, 200);
    assert.deepEqual([await signIn(one), await signIn(two)].map(({ status }) => status), [200, 200]);
  }
  Deno.kill(one.service.pid, "SIGKILL");
  await assert.rejects(one.service.stopped);
  await using again = await runAt(site);
  assert.equal((await signIn(again)).status, 200);
  const body = certificateLine("for_ever");
  assert.equal((await again.ask(PATH, { method: "DELETE", body })).status, 204);
  assert.equal((await signIn(again)).status, 401);
});

Deno.test("an invalid certificate is refused with the reason, and further attempts have to wait", async () => {
  const { properties, ...rest } = settings();
  const maxFailures = { "container.security.throttling.maxFailures": "1" };
  await using system = await runService({ ...rest, properties: { ...properties, ...maxFailures } });
  for (
    const [name, reason] of [
      ["by_other", /not accepted: its authority is not among those that are trusted/],
      ["for_host", /not accepted: certificate is not one for a user/],
      ["one_day", /not accepted: it has ended/],
      ["ca_ed25519", /not accepted: expected an OpenSSH certificate/],
    ] as const
  ) {
    const reply = await upload(system, name);
    assert.equal(reply.status, 403);
    assert.match(reply.text, reason);
  }
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) statuses.push((await upload(system, "by_other")).status);
  assert(statuses.includes(429), statuses.join());
});

Deno.test("repeated deletions of missing certificates have to wait, too", async () => {
  const { properties, ...rest } = settings();
  const maxFailures = { "container.security.throttling.maxFailures": "1" };
  await using system = await runService({ ...rest, properties: { ...properties, ...maxFailures } });
  const statuses: number[] = [];
  for (let i = 0; i < 45; i++) {
    statuses.push((await system.ask(PATH, { method: "DELETE", body: certificateLine("by_other") })).status);
  }
  assert(statuses[0] === 404 && statuses.includes(429), statuses.join());
});

Deno.test("with only=certificates no key is accepted without a certificate, from any source", async () => {
  const { files, map, properties } = settings({ only: "certificates", file: "{folder}/conf/keys.txt" });
  await using system = await runService({
    properties,
    map,
    files: { ...files, "conf/keys.txt": `ann:${publicLine("user_ed25519")}:${ANN_DN}\n` },
    servers: {
      HPC: [{
        users: {
          alice: {
            uid: 1000,
            home: "/home/alice",
            groups: [],
            keyFiles: { ".ssh/authorized_keys": publicLine("user_ed25519") },
          },
        },
      }],
    },
  });
  assert.equal((await signIn(system)).status, 401);
  assert.equal((await signIn(system, "alice")).status, 401);
  assert.equal((await upload(system, "for_ever")).status, 200);
  assert.equal((await signIn(system)).status, 200);
});

Deno.test("without authorities there is no address for certificates", async () => {
  await using system = await runService();
  assert.equal((await upload(system, "for_ever")).status, 405); // a server could have that name
});

Deno.test("a service whose list of revoked keys is broken does not start, and names the file", async () => {
  const { files, ...others } = settings();
  await using site = await createSite({ ...others, files: { ...files, "conf/revoked": "ssh-ed25519 x\n" } });
  const running = runAuthserver(["serve", "--config", site.main]);
  assert.notEqual(await running.ended, 0);
  assert.match(running.printed, /\/conf\/revoked: line 1: key is not in base64/);
});

/** Returns settings with accounts whose own `authorized_keys` name an authority unknown to the operator. */
function withOwnAuthorities() {
  const { properties, files } = settings();
  const account = (line: string) => ({
    uid: 1000,
    home: "/home/x",
    groups: ["users"],
    keyFiles: { ".ssh/authorized_keys": `${line}\n` },
  });
  const authority = certificateLine("ca_ed25519");
  return {
    properties: {
      "container.security.rest.authentication.order": "SSHKEY",
      "persistence.directory": properties["persistence.directory"],
      ...authenticatorProperties("SSHKEY", { certificateAuthorities: "{folder}/conf/ssh_ca.pub" }),
    },
    files: { ...files, "conf/ssh_ca.pub": "# none of the operator's\n" },
    servers: {
      HPC: [{
        users: {
          ann: account(`cert-authority ${authority}`),
          bob: account(`cert-authority ${authority}`),
          dora: account(`cert-authority,principals="ann" ${authority}`),
          carl: account(`cert-authority,principals="somebody" ${authority}`),
          far: account(`cert-authority,principals="ann",from="192.0.2.0/24" ${authority}`),
          gina: account(authority),
        },
      }],
      TWO: [{ users: { ann: account("# nothing") } }],
    },
  };
}

const uploadFor = (system: SystemUnderTest, user: string, method = "PUT") =>
  system.ask(`${PATH}?user=${user}`, {
    method,
    body: `${certificateLine("for_ever")}\n`,
    headers: { "Content-Type": "text/plain" },
  });

Deno.test("an authority that users name in their own authorized_keys is trusted for them, and for nobody else", async () => {
  await using system = await runService(withOwnAuthorities());
  assert.equal((await upload(system, "for_ever")).status, 403, "the operator has not named it");
  assert.equal((await signIn(system)).status, 401);
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
    const reply = await uploadFor(system, user);
    assert.equal(reply.status, 403, user);
    assert.match(reply.text, reason);
  }
  for (const user of ["ann", "dora", "far"]) {
    const reply = await uploadFor(system, user);
    assert.deepEqual([reply.status, reply.json()["principals"]], [200, [user]], reply.text);
  }
  assert.equal((await signIn(system)).status, 200);
  assert.equal(system.daemon().sessionRequests.at(-1)?.get("user"), "ann");
  assert.equal(
    (await signIn(system, "dora")).status,
    200,
    "by a principal of another name, as the line says",
  );
  for (const [user, key] of [["far", undefined], ["bob", undefined], ["ann", "other_ed25519"]] as const) {
    assert.equal((await signIn(system, user, key)).status, 401, user);
  }
  const elsewhere = await system.ask("/rest/auth/TWO", {
    headers: { Authorization: `Bearer ${userToken("ann", "user_ed25519")}` },
    body: { serverPath: "" },
  });
  assert.equal(elsewhere.json()["code"], "ERR_NO_ACCOUNT", "that daemon's ann names no authority");
  assert.equal((await uploadFor(system, "ann", "DELETE")).status, 204);
  assert.equal((await signIn(system)).status, 401);
  assert.equal((await signIn(system, "dora")).status, 200);
});

Deno.test("authorities of users are not trusted where only those of the operator are", async () => {
  const { properties, ...rest } = withOwnAuthorities();
  const only = authenticatorProperties("SSHKEY", { only: "certificates" });
  await using system = await runService({ ...rest, properties: { ...properties, ...only } });
  const reply = await uploadFor(system, "ann");
  assert.equal(reply.status, 403);
  assert.match(reply.text, /only the operator's/);
  assert.equal((await signIn(system)).status, 401);
});
