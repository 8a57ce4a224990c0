import assert from "node:assert/strict";
import { ALICE, runService } from "../system/running_service.ts";

const FILTER = new URL("../../conf/authserver.fail2ban-filter.conf", import.meta.url);

/** Returns an expression of the filter in JavaScript; fail2ban removes the time that `datepattern` finds. */
async function expression(name: string): Promise<RegExp> {
  const text = await Deno.readTextFile(FILTER);
  const [, pattern] = new RegExp(`^${name} = (.+)$`, "m").exec(text) ?? [];
  assert(pattern !== undefined);
  return new RegExp(pattern.replace("<ADDR>", "(?<address>[0-9a-fA-F:.]+)"));
}

function basic(name: string, password: string): string {
  return `Basic ${new TextEncoder().encode(`${name}:${password}`).toBase64()}`;
}

Deno.test("the fail2ban filter finds refused credentials in the log of the service, and nothing else", async () => {
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

  const lines = system.log.map((line) => line.replace(/^\S+Z/, ""));
  const [failure, ignored] = [await expression("failregex"), await expression("ignoreregex")];
  const found = lines.filter((line) => failure.test(line) && !ignored.test(line));
  assert.equal(found.length, bad.length, lines.join("\n"));
  for (const line of found) assert.match(failure.exec(line)?.groups?.address ?? "", /^(127\.0\.0\.1|::1)$/);
  const withoutCredentials = found[0]?.split(" error=")[0] +
    ' error="Unauthenticated: Not authenticated: no credentials"';
  assert(failure.test(withoutCredentials) && ignored.test(withoutCredentials));
});
