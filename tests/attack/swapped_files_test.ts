/**
 * An attacker with write access to the folder replaces data files between the service's check and its read.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const ROUNDS = 40;

/** Replacements that the log always reports; the service may skip the others without a message. */
const TOLD = /pipe|without end|gigabyte/;

type Put = (path: string, folder: string) => Promise<unknown>;
/** Replacements of a file in one step. */
const THINGS: readonly (readonly [what: string, make: Put])[] = [
  ["a pipe", (path) => new Deno.Command("mkfifo", { args: [path] }).output()],
  ["a link to a device without end", (path) => Deno.symlink("/dev/zero", path)],
  ["a link to nothing", (path, folder) => Deno.symlink(`${folder}/nothing`, path)],
  ["a link to itself", (path) => Deno.symlink(path.slice(path.lastIndexOf("/") + 1), path)],
  ["a link to a folder", (path, folder) => Deno.symlink(folder, path)],
  ["a link to the terminal", (path) => Deno.symlink("/dev/tty", path)],
  ["a file of half a gigabyte of nothing", async (path) => {
    using file = await Deno.create(path);
    await file.truncate(512 * 1024 * 1024);
  }],
];

async function memory(pid: number): Promise<number> {
  return Number(/VmHWM:\s*(\d+) kB/.exec(await Deno.readTextFile(`/proc/${pid}/status`))?.[1]) / 1024;
}

Deno.test("whatever replaces password and map file, their users still sign in, and good files are read again", async () => {
  await using system = await runService();
  const { folder } = system;
  const signIn = async () => (await system.ask("/rest/auth", { as: ALICE })).status;
  assert.equal(await signIn(), 200);
  const before = await memory(system.service.pid);
  const good = { "conf/users.txt": PASSWORDS, "conf/mapfile.json": JSON.stringify(MAP) };
  for (const [what, make] of THINGS) {
    let lines = system.log.length;
    await make(`${folder}/swap`, folder);
    await Deno.rename(`${folder}/swap`, `${folder}/conf/users.txt`);
    if (TOLD.test(what)) await system.logged(/last good content stays.*users\.txt/, lines);
    assert.equal(await signIn(), 200, what);
    lines = system.log.length;
    await system.replace("conf/users.txt", PASSWORDS + passwordLine(["other", what], "CN=Other"));
    await system.logged(/file read again.*users\.txt/, lines);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const [, make] = THINGS[round % THINGS.length] ?? ["", () => Promise.resolve()];
    for (const path of Object.keys(good)) {
      const made = `${folder}/swap`;
      await make(made, folder);
      await Deno.rename(made, `${folder}/${path}`);
    }
    assert.equal(await signIn(), 200, `after ${round} rounds`);
    // Every other round the good files return, so that the service finds both kinds.
    if (round % 2 === 0) {
      for (const [path, text] of Object.entries(good)) await system.replace(path, text);
    }
  }
  await system.replace("conf/mapfile.json", JSON.stringify({ [ALICE_DN]: { role: "banned" } }));
  await until(async () => await signIn() !== 200, { everyMs: 50 });
  assert.equal(await signIn(), 403, "a good file counts again");
  assert(await memory(system.service.pid) - before < 200, "nothing was read that has no end");
});

const shared = await runService();
Deno.test.afterAll(() => shared[Symbol.asyncDispose]());

for (const [what, make] of THINGS) {
  Deno.test(`a reload returns, and changes nothing, with ${what} instead of key or truststore`, async () => {
    const system = shared;
    for (const path of ["conf/auth-key.pem", "conf/ca.pem"]) {
      const text = await Deno.readTextFile(`${system.folder}/${path}`);
      await make(`${system.folder}/swap`, system.folder);
      await Deno.rename(`${system.folder}/swap`, `${system.folder}/${path}`);
      await system.service.reload().catch(() => {});
      assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200, path);
      await system.replace(path, text);
    }
    await system.service.reload();
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  });
}
