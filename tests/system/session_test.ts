/** `POST /rest/auth/<server>[-<n>]` (rest-api.md 1.10), from the request to the command at the daemon. */
import assert from "node:assert/strict";
import { PREFERENCES_HEADER } from "../../src/service/identify.ts";
import {
  ALICE,
  ALICE_DN,
  passwordLine,
  PASSWORDS,
  ROLE_ONLY,
  runReloadedService,
  settled,
  STRANGER,
} from "./running_service.ts";

/** User with several groups. */
const GROUPED = ["grouped", "several-3141"] as const;

const { reloadWith, ...system } = await runReloadedService({
  servers: {
    HPC: [{ maxSessions: 10_000 }],
    GROUP: [{ maxSessions: 10_000 }, { maxSessions: 10_000 }],
    PLAIN: [{ cryptography: false }],
  },
  passwords: PASSWORDS + passwordLine(GROUPED, "CN=Grouped,O=Demo,C=EU"),
  map: JSON.stringify({
    [ALICE_DN]: {
      role: "user",
      xlogin: "alice",
      group: ["hpc", "users"],
      "uftpd.GROUP.xlogin": "alice_g",
      "uftpd.GROUP.group": "guests",
      "uftpd.GROUP.rateLimit": "2M",
      "uftpd.GROUP.includes": "/data/*:/work/*",
      "uftpd.GROUP.excludes": "/data/secret/*",
    },
    "CN=Role Only,O=Demo,C=EU": { role: "user" },
    "CN=Grouped,O=Demo,C=EU": { role: "user", xlogin: "alice", "uftpd.HPC.group": ["users:hpc", "users"] },
  }),
});
await settled(system, "HPC");
await settled(system, "GROUP");
await settled(system, "PLAIN");
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/** Returns the session requests that the daemons of a server received. */
const sessions = (server: string) =>
  system.daemons(server).map(({ requests }) =>
    requests.flatMap(({ values }) =>
      values?.get("request-type") === "uftp-transfer-request" ? [Object.fromEntries(values)] : []
    )
  );
const latest = (server: string, instance = 1) => sessions(server)[instance - 1]?.at(-1) ?? {};
const AES_KEY = btoa("0123456789abcdef".repeat(2));
const post = (path: string, body: unknown, more = {}) =>
  system.ask(`/rest/auth/${path}`, { as: ALICE, body, ...more });

Deno.test("a session request makes a daemon expect the user, and returns where and how to connect", async () => {
  const reply = await post("HPC", { serverPath: "" });
  assert.equal(reply.status, 200);
  const { secret, ...rest } = reply.json();
  assert.deepEqual(rest, {
    success: true,
    reason: "",
    serverHost: "127.0.0.1",
    serverPort: system.daemon().listenPort,
  });
  assert(typeof secret === "string");
  assert.match(secret, /^[A-Za-z0-9]{22,}$/, "128 bits in letters and digits");
  assert(system.daemon().jobs.find(secret) !== undefined);
  assert.deepEqual(latest("HPC"), {
    "request-type": "uftp-transfer-request",
    "client-ip": "127.0.0.1,::ffff:127.0.0.1",
    user: "alice",
    secret,
    persistent: "false",
    file: "",
    streams: "1",
    compress: "false",
    group: "hpc",
    "access-permissions": "FULL",
  });
});

Deno.test("the fields of a session request reach the daemon", async () => {
  const reply = await post("HPC", {
    serverPath: "/work/alice",
    streamCount: "4",
    compress: "True",
    persistent: true,
    append: "true",
    sessionMode: true,
    encryptionKey: AES_KEY,
    encryptionAlgorithm: "aes",
    group: "users",
    client: "192.0.2.7, 2001:DB8::1",
    unknownMember: { deep: [1] },
  });
  assert.equal(reply.status, 200);
  const { secret: _, ...rest } = latest("HPC");
  assert.deepEqual(rest, {
    "request-type": "uftp-transfer-request",
    "client-ip": "192.0.2.7,::ffff:192.0.2.7,2001:db8::1",
    user: "alice",
    persistent: "true",
    file: "/work/alice/",
    streams: "4",
    compress: "true",
    group: "users",
    key: AES_KEY,
    algo: "AES",
    "access-permissions": "FULL",
  });
});

Deno.test("per-server attributes override the user's attributes and the requested group", async () => {
  assert.equal((await post("GROUP-2", { serverPath: "" })).status, 200);
  const { user, group, rateLimit, includes, excludes } = latest("GROUP", 2);
  assert.deepEqual({ user, group, rateLimit, includes, excludes }, {
    user: "alice_g",
    group: "guests",
    rateLimit: String(2 * 1024 * 1024),
    includes: "/data/*:/work/*",
    excludes: "/data/secret/*",
  });
});

Deno.test("a number selects one daemon of the group; without a number, they take turns", async () => {
  const before = sessions("GROUP").map((each) => each.length);
  for (let i = 0; i < 3; i++) assert.equal((await post("GROUP-1", { serverPath: "" })).status, 200);
  for (let i = 0; i < 4; i++) assert.equal((await post("GROUP", { serverPath: "" })).status, 200);
  const [one = 0, two = 0] = before;
  assert.deepEqual(sessions("GROUP").map((each) => each.length), [one + 5, two + 2]);
});

Deno.test("a session uses one command connection", async () => {
  // An idle daemon also gets connections with pings.
  const pings = () => system.daemon().requests.length - system.daemon().sessionRequests.length;
  const before = system.daemon().connections - pings();
  for (let i = 0; i < 10; i++) assert.equal((await post("HPC", { serverPath: "" })).status, 200);
  assert.equal(system.daemon().connections - pings(), before + 10);
});

Deno.test("each session has its own secret", async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => post("HPC", { serverPath: "" })));
  assert.equal(new Set(replies.map((reply) => reply.json().secret)).size, 20);
});

Deno.test("the audit line has user, address, account and daemon", async () => {
  await post("HPC", { serverPath: "" });
  const line = await system.logged(/audit session.* decision=granted/);
  for (
    const part of [
      'dn="CN=Alice,O=Demo,C=EU"',
      "method=PASSWORD",
      "client=127.0.0.1",
      "uid=alice",
      "gid=hpc",
      "server=HPC",
      `daemon=127.0.0.1:${system.daemon().listenPort}`,
    ]
  ) assert(line.includes(part), `${part} in ${line}`);
  await system.ask("/rest/auth/HPC", { as: STRANGER, body: { serverPath: "" } });
  assert.match(
    await system.logged(/audit session.* decision=refused.*Stranger/),
    /client=127\.0\.0\.1.* reason=ERR_FORBIDDEN/,
  );
});

const LONG = "a".repeat(5000);
const refused: [string, string, unknown, number, string][] = [
  ["no path", "HPC", {}, 400, "ERR_INVALID_REQUEST"],
  ["a path that is null", "HPC", { serverPath: null }, 400, "ERR_INVALID_REQUEST"],
  ["a path that is a list", "HPC", { serverPath: [] }, 400, "ERR_INVALID_REQUEST"],
  ["a path with a line end", "HPC", { serverPath: "/a\nuser=root" }, 400, "ERR_INVALID_VALUE"],
  ["a path with a carriage return", "HPC", { serverPath: "/a\ruser=root" }, 400, "ERR_INVALID_VALUE"],
  ["a path longer than a daemon's line", "HPC", { serverPath: LONG }, 400, "ERR_INVALID_VALUE"],
  ["0 streams", "HPC", { serverPath: "", streamCount: 0 }, 400, "ERR_INVALID_REQUEST"],
  ["half a stream", "HPC", { serverPath: "", streamCount: 1.5 }, 400, "ERR_INVALID_REQUEST"],
  ["a flag that is a number", "HPC", { serverPath: "", compress: 1 }, 400, "ERR_INVALID_REQUEST"],
  [
    "an unknown cipher",
    "HPC",
    { serverPath: "", encryptionAlgorithm: "ROT13" },
    400,
    "ERR_INVALID_REQUEST",
  ],
  ["a key that is not base64", "HPC", { serverPath: "", encryptionKey: "…" }, 400, "ERR_INVALID_REQUEST"],
  ["a list", "HPC", [1], 400, "ERR_INVALID_REQUEST"],
  ["text that is not JSON", "HPC", "{serverPath:''}", 400, "ERR_INVALID_REQUEST"],
  ["a truncated JSON object", "HPC", '{"serverPath":', 400, "ERR_INVALID_REQUEST"],
  ["something after the JSON object", "HPC", '{"serverPath":""} x', 400, "ERR_INVALID_REQUEST"],
  ["an empty body", "HPC", "", 400, "ERR_INVALID_REQUEST"],
  ["an unknown server", "NONE", { serverPath: "" }, 404, "ERR_UNKNOWN_SERVER"],
  ["daemon 0", "HPC-0", { serverPath: "" }, 404, "ERR_UNKNOWN_SERVER"],
  ["a missing daemon", "GROUP-3", { serverPath: "" }, 404, "ERR_UNKNOWN_SERVER"],
];
for (const [what, server, body, status, code] of refused) {
  Deno.test(`a session request with ${what} is refused with ${status}, and reaches no daemon`, async () => {
    const before = system.daemon().sessionRequests.length;
    const reply = await post(server, body);
    assert.equal(reply.status, status);
    const error = reply.json();
    assert.deepEqual(Object.keys(error).sort(), ["code", "errorMessage", "requestId", "status"]);
    assert.equal(error.status, status);
    assert.equal(error.code, code);
    assert.equal(error.requestId, reply.headers["x-request-id"]);
    assert.equal(system.daemon().sessionRequests.length, before);
  });
}

Deno.test("a group that is not the user's is refused with 400", async () => {
  const reply = await post("HPC", { serverPath: "", group: "wheel" });
  assert.equal(reply.status, 400);
  assert(!reply.text.includes("wheel"));
});

const callers: [string, object, number, string][] = [
  ["an anonymous caller", { as: undefined }, 401, "ERR_UNAUTHENTICATED"],
  ["a caller with a wrong password", { as: ["alice", "guess"] }, 401, "ERR_UNAUTHENTICATED"],
  ["an unknown user", { as: ["nobody", "guess"] }, 401, "ERR_UNAUTHENTICATED"],
  ["a user without role", { as: STRANGER }, 403, "ERR_FORBIDDEN"],
  ["a user without account", { as: ROLE_ONLY }, 401, "ERR_NO_ACCOUNT"],
  [
    "a user with a preference for another account",
    { headers: { [PREFERENCES_HEADER]: "uid:root" } },
    403,
    "ERR_PREFERENCE_NOT_ALLOWED",
  ],
  [
    "a user with a malformed preference",
    { headers: { [PREFERENCES_HEADER]: "uid" } },
    403,
    "ERR_INVALID_PREFERENCES",
  ],
];
for (const [who, caller, status, code] of callers) {
  Deno.test(`a session request of ${who} is refused with ${status}`, async () => {
    const reply = await post("HPC", { serverPath: "" }, caller);
    assert.equal(reply.status, status);
    assert.equal(reply.json().code, code);
    if (status === 401) {
      // Bearer stands for tokens that the service itself issues.
      const offered = 'Basic realm="DEMO", charset="UTF-8", Bearer realm="DEMO"';
      assert.equal(reply.headers["www-authenticate"], offered);
    }
  });
}

Deno.test("a session gets the preferred group", async () => {
  await post("HPC", { serverPath: "" }, { headers: { [PREFERENCES_HEADER]: "group:users" } });
  assert.equal(latest("HPC").group, "users");
});

Deno.test("a session request uses the given client addresses, drops names, and defaults to the caller's address", async () => {
  const clientIp = async (client: string) => {
    assert.equal((await post("HPC", { serverPath: "", client })).status, 200, client);
    return latest("HPC")["client-ip"];
  };
  assert.equal(await clientIp("login.example.org 192.0.2.7"), "192.0.2.7,::ffff:192.0.2.7");
  assert.equal(await clientIp("login.example.org"), "127.0.0.1,::ffff:127.0.0.1");
  await system.logged(/names of hosts in client are not looked up .*dropped=1/);
});

Deno.test("several groups of a server go to the daemon in one line, the first as the primary one", async () => {
  const as = GROUPED;
  assert.equal((await post("HPC", { serverPath: "" }, { as })).status, 200);
  assert.equal(latest("HPC").group, "users:hpc");
  const entry = (await system.ask("/rest/auth/HPC", { as })).json();
  assert.deepEqual([entry.gid, entry.availableGroups], ["users", ["users", "hpc"]]);
});

Deno.test("a session request with encryption gets 501 if the daemon cannot encrypt", async () => {
  const body = { serverPath: "", encryptionKey: AES_KEY, encryptionAlgorithm: "AES" };
  const reply = await post("PLAIN", body);
  assert.deepEqual([reply.status, reply.json().code], [501, "ERR_ENCRYPTION_NOT_SUPPORTED"]);
});

Deno.test("with resolveClientNames, a session request uses the addresses of client names, and drops names without one", async () => {
  await reloadWith({ "authservice.resolveClientNames": "true" }); // the last test: it stays
  const clientIp = async (client: string) => {
    assert.equal((await post("HPC", { serverPath: "", client })).status, 200, client);
    return latest("HPC")["client-ip"];
  };
  // This name resolves without the network (RFC 6761, 6.3).
  assert.equal(
    await clientIp("localhost 192.0.2.7"),
    "192.0.2.7,::ffff:192.0.2.7,127.0.0.1,::ffff:127.0.0.1,::1",
  );
  assert.equal(await clientIp("192.0.2.300 192.0.2.7"), "192.0.2.7,::ffff:192.0.2.7");
  await system.logged(/names of hosts in client have no address .*dropped=1/);
});
