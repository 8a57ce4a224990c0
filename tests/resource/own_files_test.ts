import assert from "node:assert/strict";
import { type Files, find } from "../../src/files/files.ts";
import type { PathLimits } from "../../src/files/path_limits.ts";
import type { Identity } from "../../src/model/identity.ts";
import type { TokenRestrictions } from "../../src/model/token_restrictions.ts";
import type { Call } from "../../src/resource/call.ts";
import { ownFiles } from "../../src/resource/own_files.ts";
import type { ServerFacts } from "../../src/resource/server_facts.ts";
import { Site } from "../sharing/site.ts";
import { call, server, serversOf, USER } from "./sample_call.ts";

const NEVER = new AbortController().signal;

interface Who {
  readonly limits?: PathLimits & { readonly rateLimit?: string };
  readonly restrictions?: TokenRestrictions;
  readonly capabilities?: Identity["capabilities"];
  readonly facts?: Partial<ServerFacts>;
}

function asked(site: Site, { limits = {}, restrictions, capabilities, facts }: Who = {}): Call {
  const hpc = { ...server("HPC", { up: true }), daemons: site.group, ...facts };
  return {
    ...call("HPC", serversOf(hpc)),
    clientAddress: "127.0.0.1",
    caller: {
      kind: "authenticated",
      identity: {
        dn: "CN=alice",
        method: "PASSWORD_FILE",
        via: "PASSWORD",
        capabilities,
        issuedToken: restrictions && { issuer: "CN=auth", renewable: true, restrictions },
      },
    },
    user: {
      ...USER,
      uid: "alice",
      group: "users",
      extra: new Map(Object.entries(limits).map(([name, value]) => [`uftpd.HPC.${name}`, [String(value)]])),
    },
  };
}

function files(site: Site, who?: Who): Promise<Files> {
  const parts = { sessions: new Map([["HPC", site.sessions]]), uploads: site.uploads };
  return ownFiles(asked(site, who), parts);
}

/** Returns values of the last session request. */
function requested(site: Site, ...names: string[]): (string | undefined)[] {
  const values = site.daemon.sessionRequests.at(-1);
  return names.map((name) => values?.get(name));
}

Deno.test("ownFiles() opens sessions of the account with its group, rate limit and paths", async () => {
  await using site = await Site.open();
  const { root } = site;
  const limits = { includes: `${root}/d/*:d2/*`, excludes: `${root}/d/sub/*`, rateLimit: "500" };
  const own = await files(site, { limits });
  using session = await own.open(`${root}/d/ten.txt`, NEVER);
  assert.deepEqual(requested(site, "user", "group", "rateLimit", "file", "access-permissions"), [
    "alice",
    "users",
    "500",
    "/",
    "FULL",
  ]);
  assert.equal((await find(session, `${root}/d/ten.txt`))?.size, 10);
  assert.equal((await find(session, `${root}/d2/canary`))?.kind, "file"); // relative patterns begin at home
  for (const hidden of [`${root}/d/sub/x.dat`, site.canary, "/etc/passwd"]) {
    assert.equal(await find(session, hidden), undefined, hidden);
    await assert.rejects(session.download(hidden, { first: 0, length: 1, done: () => {} }), {
      code: "ERR_NOT_FOUND",
    });
  }
  const names: string[] = [];
  await session.list(`${root}/d/`, ({ name }) => names.push(name));
  assert.deepEqual(names, ["ten.txt"]);
});

Deno.test("ownFiles() reuses only a session with the same rights", async () => {
  await using site = await Site.open();
  const { root } = site;
  const count = () => site.daemon.requests.filter(({ values }) => values?.has("file")).length;
  for (let i = 0; i < 5; i++) {
    using session = await (await files(site)).open(`${root}/d/ten.txt`, NEVER);
    assert.equal((await find(session, `${root}/d/ten.txt`))?.size, 10);
  }
  assert.equal(count(), 1);
  using _ = await (await files(site, { limits: { rateLimit: "500" } })).open(`${root}/d/ten.txt`, NEVER);
  assert.equal(count(), 2);
});

Deno.test("ownFiles() does not reuse a session that its daemon has ended", async () => {
  await using site = await Site.open();
  const path = `${site.root}/d/ten.txt`;
  const own = await files(site);
  site.daemon.sessionFaults.queue.push({ kind: "unterminated-reply", to: "MLST" });
  {
    using session = await own.open(path, NEVER);
    await assert.rejects(find(session, path), { code: "ERR_DAEMON_SESSION" });
  }
  using session = await own.open(path, NEVER);
  assert.equal((await find(session, path))?.size, 10);
});

Deno.test("ownFiles() respects directories and activity of a narrowed token", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = await files(site, { restrictions: { paths: [`${root}/d/`], activity: "write" } });
  await own.makeDirectory(`${root}/d/new`, NEVER);
  assert.deepEqual(requested(site, "file", "includes", "access-permissions"), [
    `${root}/d/`,
    `${root}/d/*`,
    "WRITE",
  ]);
  await assert.rejects(own.open(`${root}/d2/canary`, NEVER), { code: "ERR_TOKEN_RESTRICTIONS" });
  await assert.rejects(own.open("/", NEVER), { code: "ERR_TOKEN_RESTRICTIONS" });
  await assert.rejects(own.remove(`${root}/d/ten.txt`, NEVER), { code: "ERR_ACCESS_REFUSED" });
  await assert.rejects(own.move(`${root}/d/ten.txt`, `${root}/d2/ten.txt`, { signal: NEVER }), {
    code: "ERR_TOKEN_RESTRICTIONS",
  });
});

Deno.test("ownFiles() respects the capabilities of a token", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = await files(site, {
    capabilities: [{ path: `${root}/`, access: "read" }, { path: `${root}/d/sub/`, access: "all" }],
  });
  await assert.rejects(own.makeDirectory(`${root}/d/new`, NEVER), { code: "ERR_ACCESS_REFUSED" });
  await own.makeDirectory(`${root}/d/sub/new`, NEVER);
  await assert.rejects(own.open(site.canary, NEVER), { code: "ERR_OUTSIDE_CAPABILITIES" });
  await assert.rejects(own.move(`${root}/d/sub/new`, `${root}/new`, { signal: NEVER }), {
    code: "ERR_OUTSIDE_LIMITS",
  });
});

Deno.test("ownFiles() looks up the home directory if limits begin there, and fails without one", async () => {
  await using site = await Site.open();
  const { root } = site;
  let known = 0;
  const userInfo = () => {
    known++;
    return Promise.resolve({ kind: "unknown" } as const);
  };
  const facts = { daemons: { ...server("HPC", { up: true }).daemons, userInfo } };
  await files(site, { facts, limits: { includes: `${root}/d/*` } });
  assert.equal(known, 0);
  await assert.rejects(files(site, { facts, limits: { includes: "d/*" } }), { code: "ERR_NOT_FOUND" });
});

const REFUSALS: [string, Who, string][] = [
  ["a token for other servers", { restrictions: { servers: ["X"] } }, "ERR_TOKEN_RESTRICTIONS"],
  ["a token for other networks", { restrictions: { address: "192.0.2.0/24" } }, "ERR_TOKEN_RESTRICTIONS"],
  [
    "a login that the server does not accept",
    { facts: { logins: { summary: "x", missing: () => "a login by X" } } },
    "ERR_STRONGER_LOGIN_NEEDED",
  ],
  ["a server that is down", { facts: server("HPC", { up: false }) }, "ERR_SERVER_DOWN"],
];

for (const [fact, who, code] of REFUSALS) {
  Deno.test(`ownFiles() refuses ${fact}`, async () => {
    await using site = await Site.open();
    await assert.rejects(files(site, who), { code });
  });
}
