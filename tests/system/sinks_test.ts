/** Audit stream, log and console that cannot be written: reports to operators, and answers to callers. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { inTime, until } from "../fixtures/deadline.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite, runAt, settled, type SystemUnderTest } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

type Located = Pick<SystemUnderTest, "main">;

async function status({ main }: Located, ...args: readonly string[]) {
  const io = recordedIo();
  const code = await runCommand(["status", "--config", main, ...args], io);
  return { code, out: io.out };
}

async function sinks(system: Located): Promise<Record<string, Record<string, unknown>>> {
  const { sinks } = JSON.parse((await status(system, "--json")).out);
  return Object.fromEntries(sinks.map((sink: { readonly name: string }) => [sink.name, sink]));
}

/** Makes writes to a file fail, until a test calls the returned function. */
async function blocked(path: string): Promise<() => Promise<void>> {
  await Deno.mkdir(path);
  return () => Deno.remove(path);
}

async function samples(port: string): Promise<Readonly<Record<string, string>>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^authserver_sink_(up|lost_total)\{sink="([^"]*)"\} (.*)$/gm)]
      .map(([, what, sink, value]) => [`${what} ${sink}`, value ?? ""]),
  );
}

/** Service that starts while it can write neither audit stream nor log. */
const site = await createSite({
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: {
    "container.metrics.port": "0",
    "share.servers": "HPC",
    "persistence.directory": "{folder}/data",
    "container.runtimeConfigurationUpdate": "false",
  },
});
const AUDIT = `${site.folder}/logs/audit.log`;
await Deno.mkdir(`${site.folder}/logs`);
const obstacles = await Promise.all([AUDIT, `${site.folder}/logs/authserver.log`].map(blocked));
const system = await runAt(site);
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/** Makes audit stream and log writable, at the first call. */
async function mendOnce(): Promise<void> {
  await Promise.all(obstacles.splice(0).map((mend) => mend()));
  await system.logged(/audit lines written again lost=0/);
  await system.logged(/log file written again lost=\d+/);
}

Deno.test("an unwritable audit stream or log appears in status, plugin and metrics, and once in the log as an error", async () => {
  await settled(system);
  const [, port = ""] = /port=(\d+)/.exec(await system.logged(/metrics page port=/)) ?? [];
  for (let i = 0; i < 3; i++) {
    assert.equal((await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } })).status, 200);
  }
  const well = { name: "console", state: "written", lost: 0 };
  const { audit, log, console } = await sinks(system);
  assert.deepEqual([audit?.["state"], log?.["state"], console], ["failing", "failing", well]);
  assert.match(String(audit?.["reason"]), /audit\.log: .*Is a directory/);
  assert.match(String(log?.["reason"]), /authserver\.log: .*Is a directory/);
  assert.ok(Number(log?.["lost"]) > 3 && audit?.["lost"] === 0, "audit lines wait");
  assert.equal(audit?.["refusing"], undefined);
  const text = await status(system);
  assert.equal(text.code, 1);
  assert.match(text.out, /Problems:\n {2}audit cannot be written: .*\n {2}log cannot be written, \d+ lost: /);
  const nagios = await status(system, "--nagios");
  assert.equal(nagios.code, 1);
  assert.match(nagios.out, /^AUTHSERVER WARNING - audit cannot be written: /);
  const page = await samples(port);
  assert.deepEqual([page["up audit"], page["up log"], page["up console"]], ["0", "0", "1"]);
  assert.deepEqual([page["lost_total audit"], Number(page["lost_total log"]) > 3], ["0", true]);
  for (const name of ["audit lines", "log file"]) {
    const lines = system.log.filter((line) => line.includes(`${name} not written`));
    assert.equal(lines.length, 1, name);
    assert.match(lines[0] ?? "", /Z error /);
  }

  await mendOnce();
  assert.equal((await status(system)).code, 0);
  const lines = await Deno.readTextFile(AUDIT);
  assert.equal(lines.match(/"event":"session","decision":"granted"/g)?.length, 3, "none is lost");
  assert.equal((await samples(port))["up audit"], "1");
});

const SHARED = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

Deno.test("with container.audit.required, requests have no effect if their audit line cannot be written", async () => {
  await Deno.writeTextFile(`${site.folder}/shared.txt`, "shared");
  const headers = { Accept: "text/plain, application/json" };
  const share = { as: ALICE, body: { path: `${site.folder}/shared.txt`, user: SHARED, access: "READ" } };
  await mendOnce();
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}container.audit.required=true\n`);
  await system.service.reload();
  const token = (await system.ask("/rest/auth/token", { as: ALICE, headers })).text;
  const { status: made, headers: { location } } = await system.ask("/rest/share/HPC", share);
  assert.equal(made, 201);
  await Deno.remove(AUDIT);
  const mend = await blocked(AUDIT);
  const noticed = system.log.length;
  await until(async () => {
    const { status } = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
    const isLogged = system.log.slice(noticed).some((line) => line.includes("audit lines not written"));
    return isLogged && status === 503; // the core learns of it a moment after the log line
  }, { what: "audit lines are not written", everyMs: 20 });

  const path = new URL(String(location)).pathname;
  const id = path.split("/").at(-1);
  const sessions = () =>
    system.daemon().requests.filter((request) => JSON.stringify(request).includes("uftp-transfer"));
  const opened = sessions().length;
  const requests:
    readonly (readonly [what: string, path: string, question: Parameters<typeof system.ask>[1]])[] = [
      ["a session", "/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } }],
      ["a session with a wrong password", "/rest/auth/HPC", {
        as: ["alice", "wrong"],
        body: { serverPath: "" },
      }],
      ["a token", "/rest/auth/token", { as: ALICE, headers }],
      ["the revocation of all tokens", "/rest/auth/tokens", { as: ALICE, method: "DELETE" }],
      ["a new share", "/rest/share/HPC", share],
      ["the end of a share", `/rest/share/HPC/${id}`, { as: ALICE, method: "DELETE" }],
      ["a download", `/rest/access/HPC/${id}`, {}],
    ];
  for (const [what, path, question] of requests) {
    const reply = await system.ask(path, question);
    assert.deepEqual([reply.status, reply.json()["code"]], [503, "ERR_AUDIT_UNAVAILABLE"], what);
    assert.equal(reply.headers["retry-after"], "30");
    assert.match(
      await system.logged(
        new RegExp(
          `request answered.*${reply.headers["x-request-id"]}|request=${reply.headers["x-request-id"]}`,
        ),
      ),
      /Z error /,
    );
  }
  assert.equal(sessions().length, opened, "no session is opened");
  const shares = JSON.parse((await system.ask("/rest/share/HPC", { as: ALICE })).text).shares;
  assert.equal(shares.length, 1, "no share is made or deleted");
  const tokens = JSON.parse((await system.ask("/rest/auth/tokens", { as: ALICE })).text).tokens;
  assert.equal(tokens.length, 1, "no token is made or revoked");
  const bearer = { headers: { Authorization: `Bearer ${token}` } };
  assert.equal((await system.ask("/rest/auth", bearer)).status, 200, "what needs no line is answered");
  assert.equal((await sinks(system))["audit"]?.["refusing"], true);
  const nagios = await status(system, "--nagios");
  assert.deepEqual([
    nagios.code,
    /CRITICAL - audit cannot be written, requests that need it get 503/.test(nagios.out),
  ], [
    2,
    true,
  ]);
  const ban = recordedIo();
  assert.equal(
    await runCommand(["ban", "add", "--user", "mallory", "--for", "1h", "--config", system.main], ban),
    0,
    ban.err,
  );

  const before = system.log.length;
  await mend();
  await system.logged(/audit lines written again/, before);
  for (const [what, path, question] of requests.filter(([what]) => !/revocation|end|wrong/.test(what))) {
    await until(async () => (await system.ask(path, question)).status < 300, { what });
  }
  const lines = await Deno.readTextFile(AUDIT);
  assert.match(lines, /"event":"ban","decision":"granted".*mallory/, "operators act, and their lines wait");
  assert.doesNotMatch(lines, /ERR_AUDIT_UNAVAILABLE/);
});

/** Runs the service of a site with a file or pipe as standard output. */
function serveInto(output: string, { main }: Located): Deno.ChildProcess {
  const command = [Deno.execPath(), ...runFromSource(), "serve", "--config", main];
  const args = ["-c", 'exec "$@" >"$0"', output, ...command];
  return new Deno.Command("sh", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
}

Deno.test("a full console appears in status and once in the log file as an error, and the service keeps running", async () => {
  await using site = await createSite();
  const child = serveInto("/dev/full", site);
  const log = () => Deno.readTextFile(`${site.folder}/logs/authserver.log`).catch(() => "");
  try {
    await until(async () => /service started/.test(await log()));
    const { console, log: file } = await sinks(site);
    assert.equal(console?.["state"], "failing");
    assert.match(String(console?.["reason"]), /No space left/);
    assert.deepEqual(file, { name: "log", state: "written", lost: 0 });
    assert.equal((await log()).match(/ error console not written /g)?.length, 1);
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
});

/** Creates a named pipe that takes only this many more bytes. @returns Its open end for reading. */
async function almostFullPipe(path: string, left: number): Promise<number> {
  await new Deno.Command("mkfifo", { args: [path] }).output();
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const filler = new Uint8Array(left);
  assert.throws(() => {
    for (;;) writeSync(pipe, filler);
  }, { code: "EAGAIN" });
  readSync(pipe, filler);
  return pipe;
}

Deno.test("a console that nobody reads blocks neither audit lines, operators nor the end of the service", async () => {
  const LEFT = 8192;
  await using site = await createSite({
    servers: { HPC: [{ maxSessions: 1000 }] },
    properties: { "container.audit.required": "true" },
  });
  const pipe = await almostFullPipe(`${site.folder}/pipe`, LEFT);
  const child = serveInto(`${site.folder}/pipe`, site);
  const read = (name: string) => Deno.readTextFile(`${site.folder}/logs/${name}`).catch(() => "");
  const log = () => read("authserver.log");
  try {
    await until(async () => /service started/.test(await log()));
    const [, port] = /service started .*port=(\d+)/.exec(await log()) ?? [];
    const url = `https://localhost:${port}/rest/auth/HPC`;
    const granted: string[] = [];
    while ((await log()).length < 2 * LEFT) {
      const body = { serverPath: "" };
      const { status, headers } = await ask(url, site.authority.certificate, { as: ALICE, body });
      assert.equal(status, 200);
      granted.push(String(headers["x-request-id"]));
      await until(async () => (await read("audit.log")).includes(granted.at(-1) ?? ""), {
        what: "its audit line",
      });
    }
    assert.deepEqual((await sinks(site))["audit"], { name: "audit", state: "written", lost: 0 });
  } finally {
    child.kill("SIGTERM");
    const { code } = await inTime(child.status, "the end of the service").finally(() => closeSync(pipe));
    assert.equal(code, 0);
  }
  assert.match(await log(), / stopped\n$/);
});
