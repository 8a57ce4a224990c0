/** The process as a whole: killed in the middle of writing, told to stop under load. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { openShareStore } from "../../src/sharing/store/sqlite_share_store.ts";
import { ask } from "../system/ask.ts";
import { ALICE, createSite } from "../system/running_service.ts";
import { createSharingSite, EVERYBODY } from "../system/sharing/sharing_system.ts";
import { runAuthserver } from "../system/service_process.ts";
import { note } from "./fault_table.ts";

const KILLS = 3;

Deno.test("kill -9 while shares are made loses none that was acknowledged, and the store opens again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-kill-" });
  const file = `${folder}/shares.sqlite`;
  const acknowledged: string[] = [];
  for (let i = 0; i < KILLS; i++) acknowledged.push(...await writeUntilKilled(file, 5 + 20 * i));
  const store = openShareStore(file, Date.now);
  const stored = new Set((await store.all()).map(({ id }) => id));
  store.close();
  await Deno.remove(folder, { recursive: true });
  assert.deepEqual(acknowledged.filter((id) => !stored.has(id)), []);
  assert(stored.size <= acknowledged.length + KILLS, "at most one a time that nobody was told of");
  note({
    section: "Process",
    fault: "`kill -9` while shares are made",
    caller: "the request under way is cut",
    log: "nothing",
    after:
      `all of ${acknowledged.length} acknowledged shares were there after ${KILLS} kills; the service manager starts it again`,
  });
});

/** @returns Ids of the shares that were acknowledged before the kill. */
async function writeUntilKilled(file: string, atLeast: number): Promise<string[]> {
  const script = new URL("./share_writer.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", script, file],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  let killed = false;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (killed || text.split("\n").length <= atLeast) continue;
    killed = true;
    child.kill("SIGKILL");
  }
  await child.status;
  return text.split("\n").slice(0, -1);
}

Deno.test("kill -9 under load: the next start serves at once, with all shares that were acknowledged", async () => {
  await using site = await createSharingSite();
  const ca = site.authority.certificate;
  const start = async () => {
    const service = runAuthserver(["serve", "--config", site.main]);
    const [, port] = await service.prints(/service started .*port=(\d+)/);
    await service.prints(/Server started/);
    return { service, url: `https://localhost:${port}/rest` };
  };
  const { service, url } = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca });
  const acknowledged: string[] = [];
  const until = async (work: (i: number) => Promise<void>) => {
    for (let i = 0;; i++) {
      try {
        await work(i);
      } catch (error) {
        assert(error instanceof Error && "code" in error, `${error}`); // the connection was refused or cut
        return;
      }
    }
  };
  await Promise.all([
    ...Array.from(
      { length: 7 },
      () =>
        until(async () =>
          void assert.equal((await ask(`${url}/auth`, ca, { as: ALICE, agent })).status, 200)
        ),
    ),
    until(async (i) => {
      const path = `${site.data}/d/sub/${i}`;
      await Deno.writeTextFile(path, "");
      const body = { path, user: EVERYBODY, access: "READ" };
      const reply = await ask(`${url}/share/HPC`, ca, { as: ALICE, agent, body });
      assert.equal(reply.status, 201, reply.text);
      acknowledged.push(path);
      if (i === 20) service.kill("SIGKILL");
    }),
  ]);
  agent.destroy();
  await service.ended;
  const began = performance.now();
  const again = await start();
  const list = await ask(`${again.url}/share/HPC`, ca, { as: ALICE });
  const took = performance.now() - began;
  again.service.kill("SIGTERM");
  assert.equal(await again.service.ended, 0);
  assert.equal(list.status, 200);
  assert.deepEqual(acknowledged.filter((path) => !list.text.includes(`"${path}"`)), []);
  assert(!/ error /.test(again.service.printed), again.service.printed);
  assert(took < 10_000, `${took} ms`);
  note({
    section: "Process",
    fault: "`kill -9` of the service under load",
    caller: "requests under way are cut",
    log: "nothing; the next start tells nothing unusual",
    after:
      `it serves again as soon as it is started, with all ${acknowledged.length} shares that were acknowledged`,
  });
});

Deno.test("SIGTERM under load: what is answered is answered whole, and the end comes with status 0", async () => {
  await using site = await createSite();
  const service = runAuthserver(["serve", "--config", site.main]);
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  await service.prints(/Server started/);
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca: site.authority.certificate });
  let [answered, late, told] = [0, 0, false];
  const clients = Array.from({ length: 16 }, async () => {
    for (;;) {
      try {
        const reply = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, {
          as: ALICE,
          agent,
        });
        assert.equal(reply.status, 200);
        reply.json(); // whole
        answered++;
        if (told) late++;
        else if (answered === 200) {
          told = true;
          service.kill("SIGTERM");
        }
      } catch (error) {
        assert(told && error instanceof Error && "code" in error, `${error}`); // the connection was refused or cut
        return;
      }
    }
  });
  await Promise.all(clients);
  agent.destroy();
  assert.equal(await service.ended, 0);
  assert(!/ error /.test(service.printed), service.printed);
  note({
    section: "Process",
    fault: "SIGTERM under load of 16 busy connections",
    caller: `answers under way come whole (${late} after the signal), then connections are refused`,
    log: "`shutting down`, the requests, `stopped`; exit status 0",
    after: "—",
  });
});
