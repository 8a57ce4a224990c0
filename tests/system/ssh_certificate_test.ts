/** OpenSSH certificates: shown once, with curl -T; then stock clients sign in with the plain key. */
import assert from "node:assert/strict";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { methodProperties, userToken } from "./every_method.ts";
import { createSite, runService, type SystemUnderTest } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

const ANN_DN = "CN=ann,OU=ssh-certificates";

function settings(more: Readonly<Record<string, string>> = {}) {
  return {
    properties: {
      "container.security.rest.authentication.order": "SSHKEY",
      "persistence.directory": "{folder}",
      ...methodProperties("SSHKEY", {
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

/** Status of a login with the user's key, and what the caller is called. */
async function signIn(system: SystemUnderTest, user = "ann", key = "user_ed25519") {
  const { status, text } = await system.ask("/rest/auth/HPC", {
    headers: { Authorization: `Bearer ${userToken(user, key)}` },
    body: { serverPath: "" },
  });
  return { status, text };
}

Deno.test("a key counts as long as a certificate that was shown speaks for it", async () => {
  await using system = await runService(settings());
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
  assert.equal(system.daemon().requests.at(-1)?.values?.get("user"), "alice");
  assert.equal((await signIn(system, "bob")).status, 401, "another principal");
  assert.equal((await signIn(system, "ann", "other_ed25519")).status, 401, "another key");

  const forget = () => system.ask(PATH, { method: "DELETE", body: certificateLine("for_ever") });
  assert.equal((await forget()).status, 204);
  assert.equal((await signIn(system)).status, 401);
  assert.equal((await forget()).status, 404);
});

Deno.test("what is revoked counts no more at once, and an authority that is gone takes its certificates along", async () => {
  await using system = await runService(settings());
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

Deno.test("a certificate that does not count is refused with the reason, and whoever goes on waits", async () => {
  const { properties, ...rest } = settings();
  const maxFailures = { "container.security.regulation.maxFailures": "1" };
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

Deno.test("whoever tries to have certificates forgotten that are not there waits, too", async () => {
  const { properties, ...rest } = settings();
  const maxFailures = { "container.security.regulation.maxFailures": "1" };
  await using system = await runService({ ...rest, properties: { ...properties, ...maxFailures } });
  const statuses: number[] = [];
  for (let i = 0; i < 45; i++) {
    statuses.push((await system.ask(PATH, { method: "DELETE", body: certificateLine("by_other") })).status);
  }
  assert(statuses[0] === 404 && statuses.includes(429), statuses.join());
});

Deno.test("without certificate no key counts where only=certificates, from whatever source it is", async () => {
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

Deno.test("without authorities there is nowhere to show certificates", async () => {
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
