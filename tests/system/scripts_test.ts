/** `bin/authserver-{start,stop,status}.sh` (rest-api.md 5.1) in a copy of the checkout. */
import assert from "node:assert/strict";
import { ALICE, createSite, type Site } from "./running_service.ts";
import { ask } from "./ask.ts";
import { until } from "../fixtures/deadline.ts";
import { CHECKOUT } from "./service_process.ts";

interface Outcome {
  readonly code: number;
  readonly out: string;
}

/** Sets up a folder as after unpacking: program, scripts, configuration. */
async function install(site: Site): Promise<void> {
  for (const name of ["main.ts", "deno.json", "deno.lock", ".deno-version", "src"]) {
    await Deno.symlink(`${CHECKOUT}${name}`, `${site.folder}/${name}`);
  }
  await Deno.mkdir(`${site.folder}/bin`);
  for (
    const name of ["start", "stop", "status"].map((each) => `authserver-${each}`).concat("launch-settings")
  ) {
    await Deno.copyFile(`${CHECKOUT}bin/${name}.sh`, `${site.folder}/bin/${name}.sh`);
  }
}

async function script(site: Site, name: "start" | "stop" | "status"): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command(`${site.folder}/bin/authserver-${name}.sh`, {
    cwd: "/",
    env: { DENO: Deno.execPath(), NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Settings of the Java service's archive, as sites have extended them. */
const JAVA_STYLE = `#!/bin/bash
JAVA=java
MEM=-Xmx256m
LIB=lib
CONF=conf
OPTS="-Dlog4j.configurationFile=file:conf/logging.properties -Xrs"
DEFS="-Djava.security.egd=file:/dev/urandom"
PID=logs/auth.pid
STARTLOG=logs/authserver-startup.log
MAIN_CONFIG=conf/container.properties
SERVERNAME=AUTHSERVER
`;

async function settings(site: Site, text: string): Promise<void> {
  await Deno.writeTextFile(`${site.folder}/conf/startup.properties`, text);
}

/** Returns the port of a started service, from its console output. */
async function started(site: Site): Promise<number> {
  const text = await Deno.readTextFile(`${site.folder}/logs/authserver-startup.log`);
  const match = /service started .*port=(\d+)/.exec(text);
  assert.ok(match, text);
  return Number(match[1]);
}

Deno.test("the scripts start the service with the heap size of MEM, report on it, and stop it", async () => {
  await using site = await createSite();
  await install(site);
  await settings(site, `${JAVA_STYLE}MEM="-Xms64m -Xmx384m"\n`);
  assert.deepEqual(await script(site, "status"), {
    code: 7,
    out: "service AUTHSERVER not running (no PID file)\n",
  });
  assert.deepEqual(await script(site, "stop"), {
    code: 0,
    out: "No PID file found, server probably already stopped.\n",
  });

  assert.deepEqual(await script(site, "start"), { code: 0, out: "UFTP AUTHSERVER starting\n" });
  const port = await started(site);
  const pid = (await Deno.readTextFile(`${site.folder}/logs/auth.pid`)).trim();
  assert.match(pid, /^\d+$/);
  const environment = (await Deno.readTextFile(`/proc/${pid}/environ`)).split("\0");
  assert(environment.includes("DENO_V8_FLAGS=--max-old-space-size=384"));
  assert(environment.includes("AUTHSERVER_HEAP_MB=384")); // the executable reads this
  const reply = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, { as: ALICE });
  assert.equal(reply.status, 200);
  const logged = () => Deno.readTextFile(`${site.folder}/logs/authserver.log`);
  await until(async () => / request answered /.test(await logged()), { what: "a line of the request" });
  const startLog = await Deno.readTextFile(`${site.folder}/logs/authserver-startup.log`);
  assert.match(startLog, /Send TERM signal to shutdown gracefully\.\n$/, "it does not grow with the log");
  assert.deepEqual(await script(site, "status"), {
    code: 0,
    out: `service AUTHSERVER running with PID ${pid}\n`,
  });
  const again = await script(site, "start");
  assert.equal(again.code, 1);
  assert.match(again.out, new RegExp(`may already be running with PID ${pid}\\.`));

  assert.deepEqual(await script(site, "stop"), {
    code: 0,
    out: "Waiting for server to stop...\nServer stopped.\n",
  });
  await assert.rejects(ask(`https://localhost:${port}/rest/auth`, site.authority.certificate));
  assert.equal((await script(site, "status")).code, 7);
  assert.match(await Deno.readTextFile(`${site.folder}/logs/authserver.log`), / stopped\n$/);
});

Deno.test("a stale PID file, also with the id of another process, is reported and replaced", async () => {
  await using site = await createSite();
  await install(site);
  await settings(site, "SERVERNAME=AUTH-ELSE\n");
  await Deno.mkdir(`${site.folder}/logs`);
  // Process 1 exists on every machine, and is not the service.
  await Deno.writeTextFile(`${site.folder}/logs/authserver.pid`, "1\n");
  assert.deepEqual(await script(site, "status"), {
    code: 3,
    out: "warn: service AUTH-ELSE not running, but PID file logs/authserver.pid found\n",
  });
  assert.equal((await script(site, "start")).code, 0);
  await started(site);
  assert.match((await script(site, "status")).out, /^service AUTH-ELSE running with PID \d+\n$/);
  assert.equal((await script(site, "stop")).code, 0);
});

Deno.test("a failed start reports the reason and leaves no PID file", async () => {
  await using site = await createSite({ properties: { "container.port": "many" } });
  await install(site);
  await Deno.mkdir(`${site.folder}/logs`, { recursive: true });
  // `start` must ignore the output of an earlier start.
  await Deno.writeTextFile(`${site.folder}/logs/authserver-startup.log`, "Server started\n");
  const { code, out } = await script(site, "start");
  assert.equal(code, 1);
  assert.match(
    out,
    /^UFTP AUTHSERVER starting\nAUTHSERVER has not started, logs\/authserver-startup\.log says:\n/,
  );
  assert.match(out, /container\.properties:2: container\.port = many/);
  assert.equal((await script(site, "status")).code, 7);
  assert.equal((await script(site, "stop")).code, 0);
});

Deno.test("a service whose PID file cannot be written is not started: nobody could stop it", async () => {
  await using site = await createSite();
  await install(site);
  await settings(site, "PID=conf\n"); // a folder
  const { code, out } = await script(site, "start");
  assert.equal(code, 1);
  assert.match(out, /The PID file conf cannot be written: not started\./);
  await assert.rejects(Deno.stat(`${site.folder}/logs/control.sock`), Deno.errors.NotFound);
});

Deno.test("start does nothing if the startup log cannot be written", async () => {
  await using site = await createSite();
  await install(site);
  await settings(site, "STARTLOG=conf\n"); // a folder
  const { code, out } = await script(site, "start");
  assert.equal(code, 1);
  assert.equal(out, "The startup log conf cannot be written: not started.\n");
  assert.equal((await script(site, "status")).code, 7);
});

Deno.test("a MEM that is neither in the Java service's notation nor in ours is refused", async () => {
  await using site = await createSite();
  await install(site);
  for (const size of ["plenty", "0", "63m", "-Xmx100k", "512"]) {
    await settings(site, `MEM=${size}\n`);
    const { code, out } = await script(site, "start");
    assert.equal(code, 1, size);
    const says =
      `MEM in conf/startup.properties: expected a size of at least 64m, such as 512m or 1g (or -Xmx512m)`;
    assert.equal(out, `${says}, found ${size}\n`);
    assert.equal((await script(site, "status")).code, 7, "nothing was started, and no PID file is left");
  }
});
