/** Attacker's code in the workers, confined to the permissions of a real configuration. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import {
  corePermissions,
  edgePermissions,
  nameServers,
  resolveHost,
  type WorkerPermissions,
} from "../../src/workers/permissions.ts";
import { recordedIo } from "../command/recorded_io.ts";
import type { Attempt } from "../workers/planted_worker.ts";
import { createSite } from "./running_service.ts";

const site = await createSite();
const port = freePort();
Deno.test.afterAll(() => site[Symbol.asyncDispose]());

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function config(main = site.main) {
  const { snapshot, diagnostics } = await inspect(main);
  assert(snapshot !== undefined, JSON.stringify(diagnostics));
  return snapshot.config;
}

/** Runs attempts in a worker with these permissions, and returns the outcome of each. */
async function attempt(
  permissions: WorkerPermissions,
  attempts: readonly Attempt[],
): Promise<readonly string[]> {
  const worker = new Worker(new URL("../workers/planted_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions },
  });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage(attempts);
    });
  } finally {
    worker.terminate();
  }
}

/** Checks the outcome of each attempt. */
async function expect(
  permissions: WorkerPermissions,
  facts: readonly (readonly [Attempt["kind"], string, "allowed" | "NotCapable"])[],
): Promise<void> {
  // A permitted port may be in use by then.
  const outcomes = (await attempt(permissions, facts.map(([kind, what]) => ({ kind, what }))))
    .map((outcome) => outcome === "AddrInUse" ? "allowed" : outcome);
  const found = facts.map(([kind, what], i) => `${kind} ${what}: ${outcomes[i]}`);
  assert.deepEqual(found, facts.map(([kind, what, expected]) => `${kind} ${what}: ${expected}`));
}

const REFUSED = "NotCapable";
const NOBODY_MAY = [
  ["read", "/etc/passwd", REFUSED],
  ["read", "/proc/self/environ", REFUSED],
  ["env", "PATH", REFUSED],
  ["run", "/bin/true", REFUSED],
  ["ffi", "/lib/x86_64-linux-gnu/libc.so.6", REFUSED],
  ["sys", "hostname", REFUSED],
  ["import", "https://127.0.0.1/evil.ts", REFUSED],
  ["import", "file:///tmp/evil.ts", REFUSED],
  ["connect", "127.0.0.1:22", REFUSED],
  ["connect", "192.0.2.1:443", REFUSED],
] as const;

Deno.test("the edge can listen on its configured address and do nothing else, not even read its own certificate", async () => {
  const { folder } = site;
  await expect(edgePermissions([{ address: "127.0.0.1", port: port }]), [
    ...NOBODY_MAY,
    ["listen", `127.0.0.1:${port}`, "allowed"],
    ["listen", `127.0.0.1:${port + 1}`, REFUSED],
    ["listen", `0.0.0.0:${port}`, REFUSED],
    ["connect", `127.0.0.1:${site.daemon().commandPort}`, REFUSED],
    ["read", `${folder}/conf/users.txt`, REFUSED],
    ["read", `${folder}/conf/auth-cert.pem`, REFUSED],
    ["read", site.main, REFUSED],
    ["read", "main.ts", REFUSED],
    ["write", `${folder}/logs/authserver.log`, REFUSED],
    ["write", `${folder}/evil`, REFUSED],
  ]);
});

Deno.test("the core can read its files, connect to its daemons, and do nothing else", async () => {
  const { folder } = site;
  await expect(await corePermissions(await config(), resolveHost), [
    ...NOBODY_MAY,
    ["listen", "127.0.0.1:0", REFUSED],
    ["listen", `127.0.0.1:${port}`, REFUSED],
    ["connect", `127.0.0.1:${site.daemon().commandPort}`, "allowed"],
    ["read", `${folder}/conf/users.txt`, "allowed"],
    ["read", `${folder}/conf/mapfile.json`, "allowed"],
    ["read", `${folder}/conf/auth-key.pem`, REFUSED],
    ["read", site.main, REFUSED],
    ["read", `${folder}/conf`, REFUSED],
    ["write", `${folder}/conf/users.txt`, REFUSED],
    ["write", `${folder}/logs/authserver.log`, REFUSED],
  ]);
});

Deno.test("with shares, the core can also write to their folder, and connect to any port of the daemon's host", async () => {
  await using sharing = await createSite({
    properties: { "share.servers": "HPC", "persistence.directory": "{folder}/data" },
  });
  const { folder } = sharing;
  await Deno.mkdir(`${folder}/data`);
  await expect(await corePermissions(await config(sharing.main), resolveHost), [
    ...NOBODY_MAY.filter(([, what]) => what !== "127.0.0.1:22"),
    ["connect", `127.0.0.1:${sharing.daemon().listenPort}`, "allowed"],
    ["write", `${folder}/data/shares.db`, "allowed"],
    ["write", `${folder}/conf/users.txt`, REFUSED],
    ["write", `${folder}/logs/authserver.log`, REFUSED],
    ["read", `${folder}/conf/auth-key.pem`, REFUSED],
  ]);
});

Deno.test("with PostgreSQL, the core can connect to the ports of the database servers, and read their certificates", async () => {
  const database = {
    "share.servers": "HPC",
    "persistence.class": "PGSQLPersist",
    "persistence.host": "127.0.0.1,db.invalid",
    "persistence.port": "5433,5434",
    "persistence.database": "auth",
    "persistence.user": "me",
    "persistence.pgsql.ssl.rootcert": "{folder}/conf/ca.pem",
  };
  await using kept = await createSite({ properties: database });
  const plain = await corePermissions(await config(), resolveHost);
  const more = await corePermissions(await config(kept.main), (host) => Promise.resolve([host]));
  assert(Array.isArray(more.net) && Array.isArray(more.read));
  assert.deepEqual(more.net.filter((to) => /:543\d$/.test(to)), ["127.0.0.1:5433", "db.invalid:5434"]);
  assert.ok(more.read.includes(`${kept.folder}/conf/ca.pem`));
  assert.deepEqual([more.write, more.env, more.run], [false, false, plain.run]);
});

Deno.test("the core can query name servers only if it resolves the names of clients", async () => {
  await using resolving = await createSite({ properties: { "authservice.resolveClientNames": "true" } });
  const { net: plain } = await corePermissions(await config(), resolveHost);
  const { net: more } = await corePermissions(await config(resolving.main), resolveHost);
  assert(Array.isArray(plain) && Array.isArray(more));
  const dns = (list: readonly string[]) => list.filter((host) => host.endsWith(":53"));
  assert.deepEqual(dns(plain), []);
  const servers = await nameServers();
  assert.deepEqual(dns(more), servers.map((at) => at.includes(":") ? `[${at}]:53` : `${at}:53`).sort());
});

Deno.test("authserver check --permissions prints the permissions that the workers get", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main, "--permissions", "--json"], io), 0);
  const { ok, permissions } = JSON.parse(io.out);
  assert.equal(ok, true);
  const values = await config();
  const [address = ""] = await resolveHost("localhost");
  assert.deepEqual(permissions, {
    edge: edgePermissions([{ address: address, port: 0 }]),
    core: await corePermissions(values, resolveHost),
  });

  const text = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main, "--permissions"], text), 0);
  assert.match(text.out, /^edge:\n {2}net {4}\S+:0\n {2}read {3}nothing\n/m);
  assert.match(text.out, /conf\/users\.txt/);
});
