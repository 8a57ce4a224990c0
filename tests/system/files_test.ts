/**
 * Data files that change while the service runs (design note 6): used once they are complete, or not at all.
 */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "./running_service.ts";

const BOB = ["bob", "builder-99"] as const;
const BOB_DN = "CN=Bob,O=Demo,C=EU";

const system = await runService({ passwords: PASSWORDS + passwordLine(BOB, BOB_DN) });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/** Makes a change and waits for its log line; `watch/watched_file_test.ts` tests how soon it comes. */
async function noticed(change: () => Promise<void>, line: RegExp): Promise<void> {
  const before = system.log.length;
  await change();
  await system.logged(line, before);
}

/** Runs `authserver status`. */
async function status() {
  const io = recordedIo();
  const code = await runCommand(["status", "--config", system.main], io);
  return { code, out: io.out };
}

const statusOf = async (as: readonly [string, string]) => (await system.ask("/rest/auth", { as })).status;

Deno.test("a user removed from the password file can no longer log in, and others still can", async () => {
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 200]);
  await noticed(() => system.replace("conf/users.txt", PASSWORDS), /file read again.*users\.txt/);
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 401]);

  await noticed(
    () => Deno.writeTextFile(`${system.folder}/conf/users.txt`, passwordLine(BOB, BOB_DN), { append: true }),
    /file read again.*users\.txt/,
  );
  assert.equal(await statusOf(BOB), 200, "written in place");

  await noticed(
    () => Deno.writeFile(`${system.folder}/conf/users.txt`, new Uint8Array([0xff, 0xfe, 0x00])),
    /file not usable, the last good content stays.*users\.txt/,
  );
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 200]);
  const { code, out } = await status();
  assert.deepEqual(
    [code, /Problems:\n {2}a file on disk is not in use: \S+users\.txt.* UTF-8/.test(out)],
    [
      1,
      true,
    ],
    out,
  );
  await noticed(() => system.replace("conf/users.txt", PASSWORDS), /file read again.*users\.txt/);
  assert.equal((await status()).code, 0);
});

Deno.test("a broken map file changes nothing and is reported with its line; a valid one is loaded", async () => {
  const account = async () => (await system.ask("/rest/auth/HPC", { as: ALICE })).json().uid;
  assert.equal(await account(), "alice");
  await noticed(
    () => system.replace("conf/mapfile.json", '{\n  "CN=Alice,O=Demo,C=EU": {"role": "user",\n'),
    /file not usable, the last good content stays.*mapfile\.json:3/,
  );
  assert.equal(await account(), "alice");
  await noticed(
    () =>
      system.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, [ALICE_DN]: { role: "user", xlogin: "alice2" } }),
      ),
    /file read again.*mapfile\.json/,
  );
  assert.equal(await account(), "alice2");
});

Deno.test("a file behind symbolic links is reloaded when a link is switched", async () => {
  const version = (user: typeof ALICE | typeof BOB, dn: string) => passwordLine(user, dn);
  const { folder } = system;
  // As in a container's mounted volume: the file is a link into a folder that is itself a link.
  const publish = async (name: string, text: string) => {
    await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/${name}/users.txt`, text);
    await Deno.symlink(`${folder}/${name}`, `${folder}/new`);
    await Deno.rename(`${folder}/new`, `${folder}/data`);
  };
  await publish("v1", PASSWORDS + "# the same users\n");
  await Deno.symlink(`${folder}/data/users.txt`, `${folder}/link`);
  await noticed(
    () => Deno.rename(`${folder}/link`, `${folder}/conf/users.txt`),
    /file read again.*users\.txt/,
  );
  assert.equal(await statusOf(ALICE), 200);
  await noticed(() => publish("v2", version(BOB, BOB_DN)), /file read again.*users\.txt/);
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [401, 200]);
});
