/** Users whose paths are limited choose where their sessions begin; patterns that do not begin with a slash move along. */
import assert from "node:assert/strict";
import { passwordLine, runService } from "../system/running_service.ts";

/** Attributes that do not hold wherever a session begins. */
const RELATIVE: Readonly<Record<string, string>>[] = [
  { "uftpd.HPC.excludes": ".ssh/*" },
  { "uftpd.HPC.includes": "pub/*" },
  { "uftpd.HPC.excludes": "/etc/*: */private/*" },
  { "daemon.HPC.includes": "~/pub/*:/data/*" },
];
const ABSOLUTE = { "uftpd.HPC.includes": "/data/*:/work/*", "uftpd.HPC.excludes": "/work/x" };
const EMPTY = [":", " : ", ": "];

/** A user for each of the limits; the account is the same. */
const LIMITS = [...RELATIVE, ABSOLUTE, ...EMPTY.map((list) => ({ "uftpd.HPC.includes": list }))];
const dnOf = (i: number) => `CN=User ${i},O=Demo,C=EU`;
const system = await runService({
  servers: { HPC: [{ maxSessions: 1000 }] },
  passwords: LIMITS.map((_, i) => passwordLine([`user${i}`, "wonder-4711"], dnOf(i))).join(""),
  map: JSON.stringify(
    Object.fromEntries(LIMITS.map((limits, i) => [dnOf(i), { role: "user", xlogin: "alice", ...limits }])),
  ),
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/** The status of a session that begins in a folder, and whether a daemon heard of it. */
async function begin(limits: typeof LIMITS[number], serverPath: string) {
  const before = system.daemon().requests.length;
  const as = [`user${LIMITS.indexOf(limits)}`, "wonder-4711"] as const;
  const { status } = await system.ask("/rest/auth/HPC", { as, body: { serverPath } });
  const heard = system.daemon().requests.slice(before).some(({ values }) => values?.has("secret"));
  return [status, heard] as const;
}

for (const limits of RELATIVE) {
  Deno.test(`${JSON.stringify(limits)} cannot be left behind by where a session begins`, async () => {
    for (const home of ["", ".", "./"]) assert.deepEqual(await begin(limits, home), [200, true], home);
    for (const elsewhere of ["/", "/home/", "/home/alice/.ssh/", "..", "../", "pub/", "./..", "/./", "~"]) {
      assert.deepEqual(await begin(limits, elsewhere), [403, false], elsewhere);
    }
    const [pattern = ""] = Object.values(limits);
    await system.logged(new RegExp(`mapfile\\.json.*${RegExp.escape(pattern)}.*begin with a slash`));
  });
}

Deno.test("limits that begin with a slash hold wherever a session begins", async () => {
  for (const path of ["", "/", "../"]) assert.deepEqual(await begin(ABSOLUTE, path), [200, true], path);
});

for (const limits of LIMITS.slice(-EMPTY.length)) {
  Deno.test(`a list of allowed paths that is ${JSON.stringify(limits)} is no licence for all paths`, async () => {
    assert.deepEqual(await begin(limits, ""), [500, false]);
  });
}
