/** Users whose paths are limited choose where their sessions begin; patterns that do not begin with a slash move along. */
import assert from "node:assert/strict";
import { ALICE, ALICE_DN, MAP, runService } from "../system/running_service.ts";

async function runWith(limits: Readonly<Record<string, string>>) {
  const map = JSON.stringify({ ...MAP, [ALICE_DN]: { ...MAP[ALICE_DN], ...limits } });
  const system = await runService({ map, servers: { HPC: [{ maxSessions: 1000 }] } });
  return {
    system,
    /** The status of a session that begins in a folder, and whether a daemon heard of it. */
    async begin(serverPath: string) {
      const before = system.daemon().requests.length;
      const { status } = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath } });
      const heard = system.daemon().requests.slice(before).some(({ values }) => values?.has("secret"));
      return [status, heard] as const;
    },
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

const RELATIVE: Readonly<Record<string, string>>[] = [
  { "uftpd.HPC.excludes": ".ssh/*" },
  { "uftpd.HPC.includes": "pub/*" },
  { "uftpd.HPC.excludes": "/etc/*: */private/*" },
  { "daemon.HPC.includes": "~/pub/*:/data/*" },
];

for (const limits of RELATIVE) {
  Deno.test(`${JSON.stringify(limits)} cannot be left behind by where a session begins`, async () => {
    await using site = await runWith(limits);
    for (const home of ["", ".", "./"]) assert.deepEqual(await site.begin(home), [200, true], home);
    for (const elsewhere of ["/", "/home/", "/home/alice/.ssh/", "..", "../", "pub/", "./..", "/./", "~"]) {
      assert.deepEqual(await site.begin(elsewhere), [403, false], elsewhere);
    }
    await site.system.logged(/mapfile\.json.*begin with a slash/);
  });
}

Deno.test("limits that begin with a slash hold wherever a session begins", async () => {
  await using site = await runWith({
    "uftpd.HPC.includes": "/data/*:/work/*",
    "uftpd.HPC.excludes": "/work/x",
  });
  for (const path of ["", "/", "../"]) assert.deepEqual(await site.begin(path), [200, true], path);
});

for (const empty of [":", " : ", " "]) {
  Deno.test(`a list of allowed paths that is ${JSON.stringify(empty)} is no licence for all paths`, async () => {
    await using site = await runWith({ "uftpd.HPC.includes": empty });
    assert.deepEqual(await site.begin(""), [500, false]);
  });
}
