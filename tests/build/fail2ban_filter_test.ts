import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { request } from "node:https";
import { startService } from "../../src/command/running_service.ts";
import { DEMO_USER, writeDemoConfiguration } from "../demo/demo_configuration.ts";
import { createAuthority } from "../pki/authority.ts";

const FILTER = new URL("../../conf/authserver.fail2ban-filter.conf", import.meta.url);

/** An expression of the filter, in this language; fail2ban takes off the time that `datepattern` finds. */
async function expression(name: string): Promise<RegExp> {
  const text = await Deno.readTextFile(FILTER);
  const [, pattern] = new RegExp(`^${name} = (.+)$`, "m").exec(text) ?? [];
  assert(pattern !== undefined);
  return new RegExp(pattern.replace("<ADDR>", "(?<address>[0-9a-fA-F:.]+)"));
}

function get(port: number, path: string, authorization?: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request({
    host: "127.0.0.1",
    port,
    path,
    rejectUnauthorized: false,
    agent: false,
    headers: authorization === undefined ? {} : { authorization },
  }, (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode));
  }).on("error", reject).end();
  return promise;
}

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

Deno.test("the fail2ban filter finds refused credentials in the log of the service, and nothing else", async () => {
  const folder = await Deno.makeTempDir();
  const main = await writeDemoConfiguration(folder, {
    authority: createAuthority({ subject: "CN=Test CA" }),
    daemon: { host: "127.0.0.1", listenPort: 1, commandPort: 1 },
    port: 0,
  });
  const log = `${folder}/logs/authserver.log`;
  const service = await startService(main, () => {});
  const bad = [
    basic(DEMO_USER.name, "wrong"),
    basic("no such user client=192.0.2.99", "x"),
    basic("x\n2026-01-01T00:00:00.000Z info  request answered client=192.0.2.99", "x"),
    "Basic %%%",
    "Bearer abc.def.ghi",
  ];
  try {
    for (const authorization of bad) {
      const status = await get(service.port, "/rest/auth?client=192.0.2.99", authorization);
      assert(status === 401 || status === 429, String(status));
    }
    const { name, password } = DEMO_USER;
    assert.equal(await get(service.port, "/rest/auth"), 200);
    assert.equal(await get(service.port, "/rest/share/DEMO"), 401, "anonymous, no credentials shown");
    assert.notEqual(await get(service.port, "/rest/auth", basic(name, password)), 401);
  } finally {
    service.stop();
    await service.stopped;
  }
  const lines = (await Deno.readTextFile(log)).trimEnd().split("\n").map((line) => line.replace(/^\S+Z/, ""));
  await Deno.remove(folder, { recursive: true });
  const [failure, ignored] = [await expression("failregex"), await expression("ignoreregex")];
  const found = lines.filter((line) => failure.test(line) && !ignored.test(line));
  assert.equal(found.length, bad.length, lines.join("\n"));
  for (const line of found) assert.equal(failure.exec(line)?.groups?.address, "127.0.0.1");
  assert(
    ignored.test(
      `${found[0]?.split(" error=")[0]} error="Unauthenticated: Not authenticated: no credentials"`,
    ),
  );
});
