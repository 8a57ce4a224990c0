/**
 * Guesses at passwords of links from many addresses cost the service little; correct passwords still work.
 */
import assert from "node:assert/strict";
import { LONG } from "../long/results.ts";
import { ALICE } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";

const PASSWORD = "open sesame äö";
/** Number of addresses that guess, each in a separate group. */
const ADDRESSES = LONG ? 24 : 5;
/** Number of links that get a password at once. */
const LINKS = LONG ? 12 : 5;
/**
 * Limit of added memory: hashing takes 32 MiB per password, and the service hashes two at a time. Hashing all
 * passwords of the tests at once would take more.
 */
const MOST_MIB = 128;

const sharing = await SharingSystem.open({
  properties: {
    "container.security.gateway.enable": "true",
    "container.security.gateway.trustedPeers": "127.0.0.1",
  },
});
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

const basic = (password: string) =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`:${password}`)))}`;
const from = (address: string, password: string) => ({
  headers: { "Authorization": basic(password), "X-UNICORE-Consignor-IP": address },
});

/** Forgets earlier peaks. @returns Memory in use, in MiB. */
async function memoryNow(): Promise<number> {
  await Deno.writeTextFile(`/proc/${sharing.system.service.pid}/clear_refs`, "5");
  return await mostMemory();
}

/** Returns the peak since then, in MiB. */
async function mostMemory(): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${sharing.system.service.pid}/status`);
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1]) / 1024;
}

Deno.test("guesses at one link from many addresses lock out neither its owner nor users with its password", async () => {
  const id = await sharing.share("d/ten.txt", { password: PASSWORD });
  const right = async () => (await sharing.fetch(id, from("203.0.113.200", PASSWORD))).status;
  assert.equal(await right(), 200);
  const before = await memoryNow();
  const guesses = Array.from(
    { length: ADDRESSES },
    (_, n) => sharing.fetch(id, from(`198.18.${n}.1`, `guess ${n}`)),
  );
  const others = [
    right(),
    sharing.system.ask("/rest/auth", { as: ALICE }).then(({ status }) => status),
    sharing.system.ask("/rest/share/HPC", { as: ALICE }).then(({ status }) => status),
  ];
  assert.deepEqual(await Promise.all(others), [200, 200, 200]);
  const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
  statuses.forEach((status) => assert([401, 429, 503].includes(status ?? 0), `${status}`));
  assert(statuses.has(401));
  assert.equal(await right(), 200, "also afterwards");
  const added = await mostMemory() - before;
  assert(added < MOST_MIB, `hashing took ${added} MiB more`);
});

Deno.test("passwords that an owner gives to many links at once are hashed in turn, and other users do not wait", async () => {
  const before = await memoryNow();
  const made = Array.from(
    { length: LINKS },
    (_, n) =>
      sharing.share("d", { password: PASSWORD, note: `${n}`, user: `CN=U${n}` })
        .then(() => 201, () => 503),
  );
  assert.equal((await sharing.system.ask("/rest/auth", { as: ALICE })).status, 200);
  assert((await Promise.all(made)).filter((status) => status === 201).length >= LINKS * 2 / 3);
  const added = await mostMemory() - before;
  assert(added < MOST_MIB, `hashing took ${added} MiB more`);
});
