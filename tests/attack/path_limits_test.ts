/**
 * Users with limited paths choose the start folders of sessions, which patterns without leading slash follow.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { SessionClient } from "../daemon_simulator/session_client.ts";
import { passwordLine, runService } from "../system/running_service.ts";

/** Attributes with patterns that depend on the start folder of a session. */
const RELATIVE: Readonly<Record<string, string>>[] = [
  { "uftpd.HPC.excludes": ".ssh/*" },
  { "uftpd.HPC.includes": "pub/*" },
  { "uftpd.HPC.excludes": "/etc/*: */private/*" },
  { "daemon.HPC.includes": "~/pub/*:/data/*" },
];
const ABSOLUTE = { "uftpd.HPC.includes": "/data/*:/work/*", "uftpd.HPC.excludes": "/work/x" };
/** Attributes with patterns for file names in any folder. */
const NAMES: readonly Readonly<Record<string, string>>[] = [
  { "uftpd.HPC.excludes": "*.key" },
  { "uftpd.HPC.includes": "*.txt" },
];
const EMPTY = [":", " : ", ": "];

/** Limits of one user each; all users have the same account. */
const LIMITS = [...RELATIVE, ABSOLUTE, ...NAMES, ...EMPTY.map((list) => ({ "uftpd.HPC.includes": list }))];
const dnOf = (i: number) => `CN=User ${i},O=Demo,C=EU`;
const system = await runService({
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: { "container.feature.Files.enable": "true", "persistence.directory": "{folder}" },
  passwords: LIMITS.map((_, i) => passwordLine([`user${i}`, "wonder-4711"], dnOf(i))).join(""),
  map: JSON.stringify(
    Object.fromEntries(LIMITS.map((limits, i) => [dnOf(i), { role: "user", xlogin: "alice", ...limits }])),
  ),
});
const outside = await Deno.realPath(await Deno.makeTempDir({ prefix: "authserver-outside-" }));
for (const directory of [`${outside}/d`, `${outside}/d2`, `${system.folder}/d`, `${system.folder}/d2`]) {
  await Deno.mkdir(directory);
  for (const name of ["x.key", "x.txt"]) await Deno.writeTextFile(`${directory}/${name}`, name);
}
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await Deno.remove(outside, { recursive: true });
});

const login = (limits: typeof LIMITS[number]) => [`user${LIMITS.indexOf(limits)}`, "wonder-4711"] as const;

/**
 * Asks for a session that starts in a folder; returns the status and whether a daemon received the request.
 */
async function begin(limits: typeof LIMITS[number], serverPath: string) {
  const before = system.daemon().requests.length;
  const { status } = await system.ask("/rest/auth/HPC", { as: login(limits), body: { serverPath } });
  const heard = system.daemon().requests.slice(before).some(({ values }) => values?.has("secret"));
  return [status, heard] as const;
}

for (const limits of RELATIVE) {
  Deno.test(`${JSON.stringify(limits)} cannot be escaped by the start folder of a session`, async () => {
    for (const home of ["", ".", "./"]) assert.deepEqual(await begin(limits, home), [200, true], home);
    for (const elsewhere of ["/", "/home/", "/home/alice/.ssh/", "..", "../", "pub/", "./..", "/./", "~"]) {
      assert.deepEqual(await begin(limits, elsewhere), [403, false], elsewhere);
    }
    const [pattern = ""] = Object.values(limits);
    await system.logged(new RegExp(`mapfile\\.json.*${RegExp.escape(pattern)}.*begin with a slash`));
  });
}

Deno.test("limits that begin with a slash hold wherever a session begins", async () => {
  for (const path of ["", "/", "/etc/..//data/"]) {
    assert.deepEqual(await begin(ABSOLUTE, path), [200, true], path);
  }
  for (const path of ["./", "../", "/data/../etc/", "/work/x/../y//../../etc/"]) {
    assert.deepEqual(await begin(ABSOLUTE, path), [403, false], path);
  }
});

/**
 * Opens a session that starts in a folder, and returns the daemon's reply codes to `RNFR` for these paths.
 */
async function codes(limits: typeof LIMITS[number], serverPath: string, paths: readonly string[]) {
  const { secret } = (await system.ask("/rest/auth/HPC", { as: login(limits), body: { serverPath } })).json();
  const client = await SessionClient.connect(system.daemon().listenPort);
  try {
    assert.match(await client.logIn(String(secret)), /^230 /);
    return (await client.commands(...paths.map((path) => `RNFR ${path}`))).map((reply) => reply.slice(0, 3));
  } finally {
    client.close();
  }
}

Deno.test("a session in the home directory works with absolute and relative patterns in one list", async () => {
  const limits = { "uftpd.HPC.excludes": "/etc/*: */private/*" };
  const mixed = RELATIVE.find((each) => isDeepStrictEqual(each, limits)) ?? {};
  await Deno.mkdir(`${system.folder}/d/private`);
  await Deno.writeTextFile(`${system.folder}/d/private/x`, "x");
  for (const start of ["", ".", "./"]) {
    assert.deepEqual(await codes(mixed, start, ["d/x.txt", "d/private/x", "/etc/passwd"]), [
      "350",
      "534",
      "534",
    ]);
  }
});

for (const limits of NAMES) {
  Deno.test(`${JSON.stringify(limits)} holds for names in all directories, wherever a session begins`, async () => {
    for (const start of ["", "/"]) {
      for (const directory of [`${outside}/d`, `${system.folder}/d`]) {
        const paths = [`${directory}/x.key`, `${directory}/x.txt`];
        assert.deepEqual(await codes(limits, start, paths), ["534", "350"], `${directory} from ${start}`);
      }
    }
    for (const [start, base] of [[`${outside}/d/`, outside], ["d/", system.folder]] as const) {
      const paths = [`${base}/d/x.key`, "x.key", `${base}/d2/x.key`, `${base}/d/x.txt`];
      assert.deepEqual(await codes(limits, start, paths), ["534", "534", "534", "350"], start);
    }
    for (const directory of [`${outside}/d`, `${system.folder}/d`]) {
      const get = async (name: string) =>
        (await system.ask(`/dav/HPC${directory}/${name}`, { as: login(limits) })).status;
      assert.deepEqual([await get("x.key"), await get("x.txt")], [404, 200], directory);
    }
  });
}

for (const limits of LIMITS.slice(-EMPTY.length)) {
  Deno.test(`a list of allowed paths that is ${JSON.stringify(limits)} does not permit all paths`, async () => {
    assert.deepEqual(await begin(limits, ""), [500, false]);
  });
}
