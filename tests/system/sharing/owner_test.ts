/** Shares in a running service whose owners change. */
import assert from "node:assert/strict";
import { ALICE_DN, MAP, passwordLine, PASSWORDS } from "../running_service.ts";
import { BOB, BOB_DN, SharingSystem } from "./sharing_system.ts";

const EXCLUDED = { excludes: "*/secret/*" };
const ALICES = MAP[ALICE_DN];

/** Returns the map file with another entry for Alice, or without one. */
function mapWith(alice: Record<string, unknown> | undefined): string {
  return JSON.stringify({ [BOB_DN]: { role: "user" }, ...(alice !== undefined && { [ALICE_DN]: alice }) });
}

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());
await Deno.mkdir(`${sharing.data}/d/secret`);
await Deno.writeTextFile(`${sharing.data}/d/secret/s.txt`, "SECRET");

async function changeFile(file: string, text: string): Promise<void> {
  const before = sharing.system.log.length;
  await sharing.system.replace(file, text);
  await sharing.system.logged(new RegExp(`file read again.*${file.split("/").at(-1)}`), before);
}

/** Shares a directory of which the owner must not reach a part. */
async function shareDirectory() {
  await changeFile(
    "conf/mapfile.json",
    mapWith({ ...ALICES, "uftpd.HPC.excludes": EXCLUDED.excludes }),
  );
  const id = await sharing.share("d/");
  const status = async (path: string) => (await sharing.fetch(`${id}/${path}`)).status;
  const session = async () => {
    const body = { serverPath: `${sharing.data}/d/` };
    return (await sharing.system.ask("/rest/access/HPC", { as: BOB, body })).status;
  };
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt")], [200, 404]);
  return { status, session };
}

Deno.test("shares of an owner who is removed from the map end, and the excludes remain in force", async () => {
  const { status, session } = await shareDirectory();
  await changeFile("conf/mapfile.json", mapWith(undefined));
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt"), await session()], [404, 404, 404]);
  await changeFile("conf/mapfile.json", mapWith(ALICES));
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt")], [200, 404]);
  await changeFile("conf/mapfile.json", mapWith({ ...ALICES, role: "guest" }));
  assert.deepEqual([await status("ten.txt"), await session()], [404, 404]);
});

Deno.test("shares of an owner who is removed from the password file end", async () => {
  const { status, session } = await shareDirectory();
  await changeFile("conf/users.txt", passwordLine(BOB, BOB_DN));
  assert.deepEqual([await status("ten.txt"), await session()], [404, 404]);
  await changeFile("conf/users.txt", PASSWORDS);
  assert.equal(await status("ten.txt"), 200);
});
