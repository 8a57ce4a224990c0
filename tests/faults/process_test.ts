/** Faults of the whole process: a kill during writes, and a stop under load. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { DatabaseSync } from "node:sqlite";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import { ask } from "../system/ask.ts";
import { ALICE, createSite } from "../system/running_service.ts";
import { createSharingSite, EVERYBODY } from "../system/sharing/sharing_system.ts";
import { runAuthserver } from "../system/service_process.ts";
import { Notified } from "../command/notified.ts";
import { note } from "./fault_table.ts";
import { allShares } from "../sharing/store/all_shares.ts";

const KILLS = 3;

Deno.test("kill -9 while shares are made loses no acknowledged share, and the store opens again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-kill-" });
  const file = `${folder}/shares.sqlite`;
  const acknowledged: string[] = [];
  for (let i = 0; i < KILLS; i++) {
    const atLeast = 5 + 20 * i;
    const written = await writeUntilKilled(file, atLeast);
    assert(written.length >= atLeast, `only ${written.length} were acknowledged`);
    acknowledged.push(...written);
    assert.deepEqual(await damage(file), ["ok"]);
  }
  assert.equal(new Set(acknowledged).size, acknowledged.length, "each has an id of its own");
  const store = openShareStore(file, Date.now);
  const all = await allShares(store);
  const stored = new Set(all.map(({ id }) => id));
  assert(
    all.every(({ path, owner, uid }) =>
      /^\/data\/\d+\/\d+$/.test(path) && owner === "cn=ann" && uid === "ann"
    ),
  );
  store.close();
  await Deno.remove(folder, { recursive: true });
  assert.deepEqual(acknowledged.filter((id) => !stored.has(id)), []);
  assert(stored.size <= acknowledged.length + KILLS, "at most one a time that nobody was told of");
  note({
    section: "Process",
    fault: "`kill -9` while shares are created",
    caller: "the request in progress is cut off",
    log: "nothing",
    after:
      `all of ${acknowledged.length} acknowledged shares were there after ${KILLS} kills; the service manager starts it again`,
  });
});

/** Returns the damage that SQLite finds in a store; `ok` is no damage. */
async function damage(file: string): Promise<unknown[]> {
  const copy = `${file}.copy`;
  for (const end of ["", "-wal"]) {
    await Deno.copyFile(`${file}${end}`, `${copy}${end}`).catch((error) => {
      if (end === "" || !(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  const database = new DatabaseSync(copy);
  try {
    return database.prepare("PRAGMA integrity_check").all().map((row) => row.integrity_check);
  } finally {
    database.close();
  }
}

/** Returns the processor time of a process so far, in clock ticks. */
function processorTime(pid: number): number {
  const [, fields = ""] = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ");
  const [user, system] = fields.split(" ").slice(11, 13).map(Number);
  return (user ?? NaN) + (system ?? NaN);
}

/** Errors of connections to a process that ends or has ended. */
const CUT = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE"]);

/** @throws The error, unless it is the end of a connection: above all for a wrong answer. */
function expectCut(error: unknown): void {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  if (code === undefined || !CUT.has(code)) throw error;
}

/** @returns Ids of the acknowledged shares before the kill. */
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
  assert.equal((await child.status).signal, "SIGKILL", "it ended by itself");
  return text.split("\n").slice(0, -1);
}

Deno.test("kill -9 under load: the next start serves at once, with all acknowledged shares", async () => {
  await using site = await createSharingSite();
  const ca = site.authority.certificate;
  const start = async () => {
    const service = runAuthserver(["serve", "--config", site.main]);
    const [, port] = await service.prints(/service started .*port=(\d+)/);
    await service.prints(/Server started/);
    return { service, url: `https://localhost:${port}/rest` };
  };
  const { service, url } = await start();
  const firstStart = processorTime(service.pid);
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca });
  const acknowledged: string[] = [];
  let [killed, lists] = [false, 0];
  const until = async (work: (i: number) => Promise<void>) => {
    for (let i = 0;; i++) {
      try {
        await work(i);
      } catch (error) {
        if (!killed) throw error;
        expectCut(error);
        return;
      }
    }
  };
  await Promise.all([
    ...Array.from(
      { length: 7 },
      () =>
        until(async () => {
          assert.equal((await ask(`${url}/auth`, ca, { as: ALICE, agent })).status, 200);
          lists++;
        }),
    ),
    until(async (i) => {
      const path = `${site.data}/d/sub/${i}`;
      await Deno.writeTextFile(path, "");
      const body = { path, user: EVERYBODY, access: "READ" };
      const reply = await ask(`${url}/share/HPC`, ca, { as: ALICE, agent, body });
      assert.equal(reply.status, 201, reply.text);
      acknowledged.push(path);
      if (i !== 20) return;
      killed = true;
      service.kill("SIGKILL");
    }),
  ]);
  agent.destroy();
  assert.equal(await service.ended, 137);
  assert(acknowledged.length > 20 && lists > 0, `${acknowledged.length} shares, ${lists} lists`);
  const again = await start();
  const list = await ask(`${again.url}/share/HPC`, ca, { as: ALICE });
  const secondStart = processorTime(again.service.pid);
  again.service.kill("SIGTERM");
  assert.equal(await again.service.ended, 0);
  assert.equal(list.status, 200);
  assert.deepEqual(acknowledged.filter((path) => !list.text.includes(`"${path}"`)), []);
  assert(!/ error /.test(again.service.printed), again.service.printed);
  assert(
    secondStart < 3 * firstStart,
    `${secondStart} after ${firstStart} ticks: nothing is to be mended first`,
  );
  note({
    section: "Process",
    fault: "`kill -9` of the service under load",
    caller: "requests in progress are cut off",
    log: "nothing, also at the next start",
    after: `the next start serves all ${acknowledged.length} acknowledged shares`,
  });
});

Deno.test("SIGTERM under load: all answers are complete, and the exit status is 0", async () => {
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
        reply.json(); // throws if the answer is not complete
        answered++;
        if (told) late++;
        else if (answered === 200) {
          told = true;
          service.kill("SIGTERM");
        }
      } catch (error) {
        if (!told) throw error;
        expectCut(error);
        return;
      }
    }
  });
  await Promise.all(clients);
  agent.destroy();
  assert.equal(await service.ended, 0);
  assert.match(service.printed, / stopped\n/);
  assert(!/ error /.test(service.printed), service.printed);
  assert(answered > 200);
  note({
    section: "Process",
    fault: "SIGTERM under load of 16 busy connections",
    caller: `requests in progress are completed (${late} after the signal), then connections are refused`,
    log: "`shutting down`, the requests, `stopped`; exit status 0",
    after: "—",
  });
});

Deno.test("a process that was frozen for 22 s notifies the watchdog at once, and replaces no worker", async () => {
  const notified = Notified.abstract();
  await using site = await createSite();
  const service = runAuthserver(["serve", "--config", site.main], {
    env: { NOTIFY_SOCKET: notified.address, WATCHDOG_USEC: "2000000" },
  });
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  await service.prints(/Server started/);
  let [beats, heard] = [0, () => {}];
  const listening = (async () => {
    for (;;) {
      if (await notified.next(60_000) === "WATCHDOG=1") beats++; // longer than the freeze
      heard();
    }
  })().catch(() => {}); // the socket is closed at the end
  const beat = () => new Promise<void>((resolve) => heard = resolve);
  await beat();
  service.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 1000)); // earlier beats have arrived by then
  const before = beats;
  await new Promise((resolve) => setTimeout(resolve, 21_000));
  assert.equal(beats, before, "it was frozen");
  const next = beat();
  service.kill("SIGCONT");
  await next;
  assert.equal(beats, before + 1, "the first that is heard of it is a beat");
  // Seven beats are longer than the interval between two checks of the workers.
  for (const until = beats + 7; beats < until;) await beat();
  assert.doesNotMatch(service.printed, /died|replaced/);
  const reply = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, { as: ALICE });
  assert.equal(reply.status, 200);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0);
  await notified[Symbol.asyncDispose]();
  await listening;
  note({
    section: "Process",
    fault: "the process is frozen for 22 s (snapshot, pause of its host)",
    caller: "requests wait",
    log: "nothing",
    after: "the process continues: no worker is replaced, systemd's watchdog is notified at once",
  });
});
