/**
 * Information on servers and service for callers (rest-api.md 1.9, 1.11; decisions "Anonymous" and "status").
 */
import assert from "node:assert/strict";
import { ALICE, ALICE_DN, ROLE_ONLY, runService, settled, STRANGER } from "./running_service.ts";

const system = await runService({
  servers: { HPC: [{ maxSessions: 16 }], GROUP: [{ maxSessions: 16 }, { maxSessions: 4 }] },
  map: JSON.stringify({
    [ALICE_DN]: {
      role: "user",
      xlogin: "alice",
      group: ["hpc", "users"],
      "uftpd.GROUP.rateLimit": "2M",
      "uftpd.GROUP.includes": "/data/*",
      "daemon.GROUP.excludes": "/data/secret/*",
    },
    "CN=Role Only,O=Demo,C=EU": { role: "user" },
  }),
});
await settled(system, "HPC");
await settled(system, "GROUP");
const base = `https://localhost:${system.port}`;
const listen = (server: string) => system.daemons(server).map(({ listenPort }) => `127.0.0.1:${listenPort}`);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}$/;

/** Replaces values that differ from run to run by a description of their form. */
function known(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, inner) => {
    if (typeof inner === "string" && TIME.test(inner)) return "<time>";
    return inner;
  });
}

const HPC = {
  href: `${base}/rest/auth/HPC`,
  description: "Server HPC",
  status: `OK [connected to ${listen("HPC")}]`,
  dataSharing: { enabled: false },
  uftpdServerVersion: "3.5.3",
  sessionLimit: 16,
  uid: "alice",
  gid: "hpc",
  availableGroups: ["hpc", "users"],
  reservations: [],
};
const GROUP = {
  ...HPC,
  href: `${base}/rest/auth/GROUP`,
  description: "Server GROUP",
  status: `OK [connected to ${listen("GROUP").join(", ")}; 2 of 2 available]`,
  sessionLimit: 4,
  rateLimit: 2 * 1024 * 1024,
  allowed: "/data/*",
  forbidden: "/data/secret/*",
};

Deno.test("GET /rest/auth shows a user everything", async () => {
  const reply = await system.ask("/rest/auth", { as: ALICE });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers["content-type"], "application/json");
  assert.match(reply.text, /^\{\n {2}"HPC": \{\n {4}"href"/, "two blanks a level, as clients' users read it");
  assert.deepEqual(known(reply.json()), {
    HPC,
    GROUP,
    client: {
      dn: ALICE_DN,
      xlogin: {
        UID: "alice",
        availableUIDs: ["alice"],
        group: "hpc",
        availableGroups: ["hpc", "users"],
      },
      role: { selected: "user", availableRoles: ["user"] },
      authenticationMethod: "PASSWORD_FILE",
    },
    server: {
      siteName: "DEMO",
      version: "0.1.0",
      upSince: "<time>",
      currentTime: "<time>",
      credential: {
        dn: "CN=AUTH,O=Demo,C=EU",
        issuer: "CN=Demo CA,O=Demo,C=EU",
        expires: "<time>",
      },
      trustedCAs: ["CN=Demo CA,O=Demo,C=EU"],
      trustedSAMLIssuers: [],
      externalConnections: {
        "UFTPD server 'HPC'": "OK",
        "UFTPD server 'GROUP-1'": "OK",
        "UFTPD server 'GROUP-2'": "OK",
      },
    },
  });
});

const anonymousEntry = ({ href, description, status, dataSharing }: typeof HPC) => ({
  href,
  description,
  status: status.replace(/connected to [^;\]]+(; )?/, (_all, group) => group ? "" : "1 of 1 available"),
  dataSharing,
  reservations: [],
});

Deno.test("GET /rest/auth shows anonymous callers where servers are and whether they work", async () => {
  const reply = await system.ask("/rest/auth");
  assert.equal(reply.status, 200);
  assert.deepEqual(known(reply.json()), {
    HPC: anonymousEntry(HPC),
    GROUP: anonymousEntry(GROUP),
    client: { dn: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", xlogin: {}, role: { selected: "anonymous" } },
    server: { siteName: "DEMO", currentTime: "<time>" },
  });
});

Deno.test("GET /rest/auth shows command addresses to nobody", async () => {
  for (const question of [{}, { as: ALICE }]) {
    const { text } = await system.ask("/rest/auth", question);
    const ports = ["HPC", "GROUP"].flatMap((name) => system.daemons(name)).map((daemon) =>
      daemon.commandPort
    );
    for (const port of ports) assert(!text.includes(String(port)));
  }
});

Deno.test("GET /rest/auth shows users without attributes or without account what they lack", async () => {
  const stranger = (await system.ask("/rest/auth", { as: STRANGER })).json();
  assert.deepEqual(stranger.client, {
    dn: "CN=Stranger,O=Demo,C=EU",
    xlogin: {},
    role: { selected: "anonymous", availableRoles: ["anonymous"] },
    authenticationMethod: "PASSWORD_FILE",
  });
  const roleOnly = (await system.ask("/rest/auth", { as: ROLE_ONLY })).json();
  assert.deepEqual(roleOnly.client, {
    dn: "CN=Role Only,O=Demo,C=EU",
    xlogin: {},
    role: { selected: "user", availableRoles: ["user"] },
    authenticationMethod: "PASSWORD_FILE",
  });
  const { uftpdServerVersion, sessionLimit } = HPC;
  assert.deepEqual(roleOnly.HPC, {
    ...anonymousEntry(HPC),
    status: HPC.status,
    uftpdServerVersion,
    sessionLimit,
  });
});

Deno.test("GET /rest/auth/<server> returns the server's entry, also by number and with a slash", async () => {
  for (const [path, entry] of [["HPC", HPC], ["HPC/", HPC], ["HPC-1", HPC], ["GROUP-2", GROUP]] as const) {
    const reply = await system.ask(`/rest/auth/${path}`, { as: ALICE });
    assert.equal(reply.status, 200, path);
    assert.deepEqual(reply.json(), entry, path);
  }
  assert.deepEqual((await system.ask("/rest/auth/HPC")).json(), anonymousEntry(HPC));
});

for (
  const path of ["NONE", "hpc", "HPC-0", "HPC-2", "GROUP-3", "HPC--1", "HPC-x", "HPC-99999999999", "client"]
) {
  Deno.test(`GET /rest/auth/${path} is 404`, async () => {
    const reply = await system.ask(`/rest/auth/${path}`, { as: ALICE });
    assert.equal(reply.status, 404);
    assert.equal(reply.json().code, "ERR_UNKNOWN_SERVER");
  });
}

Deno.test("GET /health/live and /health/ready show states and numbers only", async () => {
  assert.deepEqual((await system.ask("/health/live")).json(), { live: true });
  const ready = await system.ask("/health/ready");
  assert.equal(ready.status, 200);
  assert.deepEqual(ready.json(), { ready: true, servers: { total: 2, usable: 2 }, generation: 1 });
});

Deno.test("GET /rest/auth/certificate returns the service's certificate", async () => {
  const reply = await system.ask("/rest/auth/certificate", { headers: { Accept: "text/plain" } });
  assert.equal(reply.status, 200);
  assert.match(reply.headers["content-type"] ?? "", /^text\/plain/);
  assert.equal(reply.text.trim(), (await Deno.readTextFile(`${system.folder}/conf/auth-cert.pem`)).trim());
});

Deno.test("GET /rest/auth/token returns a bearer token for the user", async () => {
  const reply = await system.ask("/rest/auth/token?lifetime=60", {
    as: ALICE,
    headers: { Accept: "text/plain" },
  });
  assert.equal(reply.status, 200);
  assert.match(reply.headers["content-type"] ?? "", /^text\/plain/);
  assert.match(reply.text, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  const claims = JSON.parse(atob(reply.text.split(".")[1]?.replace(/-/g, "+").replace(/_/g, "/") ?? ""));
  assert.equal(claims.sub, ALICE_DN);
  assert.equal(claims.iss, "CN=AUTH,O=Demo,C=EU");
  assert.equal(claims.etd, "true");
  assert.equal(claims.exp - claims.iat, 60);

  const again = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${reply.text}` } });
  const client: unknown = again.json().client;
  assert.match(JSON.stringify(client), /"dn":"CN=Alice,O=Demo,C=EU".*"authenticationMethod":"ETD"/);

  const session = await system.ask("/rest/auth/HPC", {
    headers: { Authorization: `Bearer ${reply.text}` },
    body: { serverPath: "" },
  });
  assert.equal(session.status, 200);
});

for (
  const [what, path, headers, status] of [
    ["an invalid lifetime", "/rest/auth/token?lifetime=soon", {}, 400],
    ["the renewal of a token that is not renewable", "/rest/auth/token", { renew: "yes" }, 403],
    ["an anonymous caller", "/rest/auth/token", { nobody: "yes" }, 401],
  ] as const
) {
  Deno.test(`GET /rest/auth/token refuses ${what} with ${status}`, async () => {
    const accept = { Accept: "text/plain" };
    const question = "nobody" in headers ? { headers: accept } : "renew" in headers
      ? {
        headers: {
          ...accept,
          Authorization: `Bearer ${
            (await system.ask("/rest/auth/token", { as: ALICE, headers: accept })).text
          }`,
        },
      }
      : { as: ALICE, headers: accept };
    const reply = await system.ask(path, question);
    assert.equal(reply.status, status);
    assert.equal(reply.json().status, status);
  });
}

Deno.test.afterAll(() => system[Symbol.asyncDispose]());
