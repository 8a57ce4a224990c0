import assert from "node:assert/strict";
import { ALICE, runService } from "../system/running_service.ts";
import { BOB_DN, SharingSystem } from "../system/sharing/sharing_system.ts";
import { Visitor } from "../system/visitor.ts";

const FILTER = new URL("../../conf/authserver.fail2ban-filter.conf", import.meta.url);

/** Returns the filter's expressions in JavaScript; fail2ban removes the time that `datepattern` matches. */
async function expressions(name: string): Promise<readonly RegExp[]> {
  const text = await Deno.readTextFile(FILTER);
  const [, patterns] = new RegExp(`^${name} = (.+(?:\\n .+)*)$`, "m").exec(text) ?? [];
  assert(patterns !== undefined);
  return patterns.split(/\n */).map((pattern) =>
    new RegExp(pattern.replace("<ADDR>", "(?<address>[0-9a-fA-F:.]+)"))
  );
}

function basic(name: string, password: string): string {
  return `Basic ${new TextEncoder().encode(`${name}:${password}`).toBase64()}`;
}

Deno.test("the fail2ban filter finds only refused credentials in the log of the service", async () => {
  await using system = await runService({
    properties: { "share.servers": "HPC", "persistence.directory": "{folder}/data" },
  });
  const bad = [
    basic(ALICE[0], "wrong"),
    basic("no such user client=192.0.2.99", "x"),
    basic("x\n2026-01-01T00:00:00.000Z info  request answered client=192.0.2.99", "x"),
    "Basic %%%",
    "Bearer abc.def.ghi",
  ];
  const ask = async (path: string, question = {}) => (await system.ask(path, question)).status;
  for (const Authorization of bad) {
    const status = await ask("/rest/auth?client=192.0.2.99", { headers: { Authorization } });
    assert(status === 401 || status === 429, String(status));
  }
  assert.equal(await ask("/rest/auth"), 200);
  assert.equal(await ask("/rest/share/HPC"), 401, "anonymous, no credentials shown");
  await ask("/rest/auth", { as: ALICE });
  await ask("/rest/nothing");
  await system.logged(/status=404/);
  const found = await failures(system.log);
  assert.equal(found.length, bad.length, system.log.join("\n"));
  const withoutCredentials = found[0]?.split(" error=")[0] +
    ' error="Unauthenticated: Not authenticated: no credentials"';
  assert.deepEqual(await failures([withoutCredentials]), []);
});

Deno.test("the fail2ban filter finds wrong passwords on the sign-in page and for links, but no requests without one", async () => {
  await using sharing = await SharingSystem.open();
  const { system } = sharing;
  const id = await sharing.share("d/ten.txt", { password: "open sesame" });
  const forBob = await sharing.share("d/ten.txt", { user: BOB_DN });
  const link = `/link/HPC/${id}`;
  const guess = { headers: { Authorization: basic("", "guess") } };
  const [stranger, alice] = [new Visitor(system), new Visitor(system)];
  assert.equal((await alice.signIn(ALICE)).status, 303);
  const before = system.log.length;

  // No request here contains a wrong password.
  await stranger.get("/login");
  await stranger.get(`/rest/access/HPC/${id}`);
  await system.ask(`/rest/access/HPC/${id}`);
  await stranger.get(`/rest/access/HPC/${forBob}`);
  await system.ask(`/rest/access/HPC/${forBob}`);
  await system.ask("/rest/share/HPC", { body: { path: "/", user: "CN=X", access: "READ" } });
  await stranger.post("/login", { token: "of another page", user: "alice", password: "wrong" });
  assert.equal((await new Visitor(system).post(link, { password: "open sesame" })).status, 303);
  await system.ask("/rest/none");
  await system.logged(/status=404/, before);
  const after = system.log.length;
  assert.deepEqual(await failures(system.log.slice(before, after)), []);

  assert.equal((await stranger.signIn([ALICE[0], "wrong"])).status, 403);
  assert.equal((await stranger.post(link, { password: "guess" })).status, 403);
  assert.equal((await alice.post(link, { password: "guess" })).status, 403);
  assert.equal((await system.ask(`/rest/access/HPC/${id}`, guess)).status, 401);
  await system.ask("/rest/nothing");
  await system.logged(/status=404/, after);
  const lines = system.log.slice(after);
  assert.equal((await failures(lines)).length, 4, lines.join("\n"));
});

/** Returns the lines in which the filter finds a failure and an address. */
async function failures(log: readonly string[]): Promise<readonly string[]> {
  const [fail, ignore] = [await expressions("failregex"), await expressions("ignoreregex")];
  const lines = log.map((line) => line.replace(/^\S+Z/, ""));
  const found = lines.filter((line) =>
    fail.some((expression) => expression.test(line)) && !ignore.some((expression) => expression.test(line))
  );
  for (const line of found) {
    const addresses = fail.flatMap((expression) => expression.exec(line)?.groups?.address ?? []);
    assert.match(addresses.join(), /^(127\.0\.0\.1|::1)$/);
  }
  return found;
}
