/**
 * Longest possible listings, read and unread, through the service: neither edge nor core may stall over them,
 * and listings that no client reads must not fill the memory.
 *
 * On a busy machine a thread also stalls because no processor is free. So the test counts only the part of a
 * stall in which the thread itself ran, which the service reports, too: load neither causes such a stall
 * nor hides one that the code causes.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type { IncomingMessage } from "node:http";
import { backPressureOf } from "../../../src/edge/back_pressure.ts";
import { SHARE_DATABASE } from "../../../src/sharing/store/schema.ts";
import { ask } from "../ask.ts";
import { ALICE } from "../running_service.ts";
import { StallWatch } from "../../bench/stall_watch.ts";
import { SharingSystem } from "./sharing_system.ts";

/** Longest stall of either worker, in milliseconds, whatever clients request. */
const LONGEST_MS = 50;
/** Time after which the workers have reported everything, in milliseconds; they report once a second. */
const REPORTED_MS = 2500;
const ENTRIES = 50_000;
const SHARES = 10_000;
/** Limit of growth of the resident memory, in bytes, including engine, connections and garbage. */
const ALLOWED = 200_000_000;

Deno.test({
  name: `no listing of ${ENTRIES} names or ${SHARES} shares stalls edge or core, or fills the memory`,
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using sharing = await SharingSystem.open();
    const { system } = sharing;
    const id = await sharing.share("d/");
    multiplyShares(`${system.folder}/data`, SHARES);
    // Longest names, with a character that makes the engine store two bytes for every character.
    const lines = Array.from({ length: ENTRIES }, (_, i) => {
      const name = `${"x".repeat(240)}\u65e5${(i * 7919) % ENTRIES}`;
      return `size=10;modify=20260304050607;type=file;perm=rw;UNIX.mode=100644; ${name}`;
    });
    system.daemon().sessionFaults.always = { kind: "injected-directory", lines };
    await all(sharing, id); // warms up: the engine's first garbage does not matter
    const before = residentMemory(system.service.pid);

    await delay(REPORTED_MS);
    const watch = new StallWatch(system);
    await all(sharing, id);
    await delay(REPORTED_MS);
    watch.close();
    const found = (["edge", "core"] as const).map((worker) =>
      `${worker}: ${watch.longestMs(worker)} ms, ${watch.longestOwnMs(worker)} ms of its own`
    ).join("; ");
    const grown = residentMemory(system.service.pid) - before;
    console.log(`${found}; resident memory grew by ${(grown / 1e6).toFixed(0)} MB`);
    assert.ok(Math.max(watch.longestOwnMs("edge"), watch.longestOwnMs("core")) <= LONGEST_MS, found);
    assert.ok(grown < ALLOWED, `resident memory grew by ${grown} bytes`);
  },
});

/** Does everything at once: six clients do not read, one reads, and two list their own shares to the end. */
async function all(sharing: SharingSystem, id: string): Promise<void> {
  const silent: IncomingMessage[] = [];
  const read = async (accept: string) => {
    const { status, text } = await sharing.fetch(`${id}/`, { headers: { Accept: accept } });
    assert.equal(status, 200);
    assert.ok(text.length > 1_000_000, `${text.length} characters`);
  };
  const listShares = async () => {
    let count = 0;
    for (let path = "/rest/share/HPC"; path !== "";) {
      const { text } = await ask(`${sharing.origin}${path}`, sharing.system.authority.certificate, {
        as: ALICE,
      });
      const { shares, next } = JSON.parse(text);
      assert.ok(Array.isArray(shares));
      count += shares.length;
      path = typeof next === "string" ? next.slice(next.indexOf("/rest/")) : "";
    }
    assert.ok(count >= SHARES, `${count} shares`);
  };
  await Promise.all([
    ...Array.from({ length: 6 }, async () => {
      const response = await sharing.open(`${id}/`);
      backPressureOf(response.socket).stop();
      silent.push(response);
    }),
    read("application/json"),
    ...Array.from({ length: 2 }, listShares),
  ]);
  for (const response of silent) response.on("error", () => {}).destroy();
}

/** Adds this many copies of the only share, in one statement. */
function multiplyShares(folder: string, count: number): void {
  using database = new DatabaseSync(`${folder}/${SHARE_DATABASE}`, { timeout: 5000 });
  const columns = database.prepare("SELECT name FROM pragma_table_info('share')").all().map(({ name }) =>
    String(name)
  );
  const made: Readonly<Record<string, string>> = { id: "'s' || n", path: "path || n", target: "'cn=' || n" };
  database.exec(
    `WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count})
     INSERT INTO share (${columns.join(", ")})
     SELECT ${columns.map((name) => made[name] ?? name).join(", ")} FROM share, number`,
  );
}

/** Returns the resident memory of a process, in bytes. */
function residentMemory(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
