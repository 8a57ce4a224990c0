/** Tests that transfers in progress end with the share that permits them. */
import assert from "node:assert/strict";
import { inTime } from "../../fixtures/deadline.ts";
import { RunningUses } from "../../../src/resource/access/running_uses.ts";
import type { Share } from "../../../src/sharing/share.ts";
import { SharingSite } from "../sharing_site.ts";

/** Size of a file that is larger than all buffers on the way, in bytes. */
const BIG = 24 * 1024 ** 2;

async function setting() {
  const site = await SharingSite.open();
  const file = await Deno.create(`${site.root}/d/big`);
  await file.truncate(BIG);
  file.close();
  const running = new RunningUses(site.parts.store, site.parts.clock, () => () => {});
  site.parts = { ...site.parts, running };
  return { site, running, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

/** Begins to read a body. @returns Function that reads the rest, and reports whether the body is complete. */
async function begun(response: Response): Promise<() => Promise<boolean>> {
  assert.equal(response.status, 200);
  const reader = response.body?.getReader();
  let length = (await reader?.read())?.value?.length ?? 0;
  return async () => {
    try {
      for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
        length += next.value.length;
      }
      return length >= BIG;
    } catch {
      return false;
    }
  };
}

type Ending = readonly [what: string, end: (site: SharingSite, id: string) => Promise<unknown> | void];

const change = (fields: Record<string, unknown>): Ending[1] => async (site, id) => {
  const response = await site.ask("alice", "PUT", `share/HPC/${id}`, { body: fields });
  assert.equal(response.status, 200, await response.text());
};

const ENDINGS: readonly Ending[] = [
  [
    "that its owner ends",
    async (site, id) => await (await site.ask("alice", "DELETE", `share/HPC/${id}`)).text(),
  ],
  ["that another instance or the operator removes", (site, id) => site.parts.store.remove("HPC", id)],
  ["that expires", (site) => void (site.time.ahead = 2 * 3_600_000)],
  [
    "that gets a password",
    (site, id) => site.parts.store.change("HPC", id, { password: "of others" }),
  ],
  ["that becomes limited to other addresses", change({ sources: ["192.0.2.0/24"] })],
  ["that is given to another account", (site, id) =>
    site.parts.store.amend("HPC", id, {
      owner: "cn=bob",
      target: "cn=anonymous,o=unknown,ou=unknown",
      uid: "bob",
      gid: undefined,
      path: `${site.root}/d/`,
    })],
];
for (const [what, end] of ENDINGS) {
  Deno.test(`downloads, archives and uploads in progress end with a share ${what}`, async () => {
    await using at = await setting();
    const { site, running } = at;
    const id = await site.share("d/", { access: "WRITE", lifetime: 3600 });
    const file = await begun(await site.ask("anonymous", "GET", `access/HPC/${id}/big`));
    const archive = await begun(await site.ask("anonymous", "GET", `access/HPC/${id}/?view=zip`));
    const { promise: writing, resolve } = Promise.withResolvers<void>();
    const silent = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          resolve();
          controller.enqueue(new TextEncoder().encode("01"));
          return new Promise<void>((resolve) => setTimeout(resolve, 50)); // silent clients are cut off
        },
      }, { highWaterMark: 0 });
    const put = site.ask("anonymous", "PUT", `access/HPC/${id}/new`, {
      body: silent(),
      headers: { "Content-Length": "900000" },
    });
    await inTime(writing, "an upload to begin");
    await running.poll();
    await end(site, id);
    await running.poll();
    const response = await inTime(put, "the answer to an upload whose share has ended");
    assert.equal(response.status, 404);
    assert.match(await response.text(), /ERR_SHARE_NOT_FOUND/);
    assert.deepEqual(await Promise.all([file(), archive()]), [false, false]);
    await site.site.allClosed();
  });
}

Deno.test("transfers continue while their share is unchanged, or only its note or end changes", async () => {
  await using at = await setting();
  const { site, running } = at;
  const id = await site.share("d/", { onetime: true });
  const rest = await begun(await site.ask("anonymous", "GET", `access/HPC/${id}/big`));
  await running.poll();
  await change({ note: "other", lifetime: 3600 })(site, id);
  await running.poll();
  assert.equal(await rest(), true);
});

Deno.test("an owner may view a share that is for other addresses, until the share ends", async () => {
  for (const [end, whole] of [[undefined, true], [ENDINGS[0]?.[1], false]] as const) {
    await using at = await setting();
    const { site, running } = at;
    const id = await site.share("d/", { sources: ["192.0.2.0/24"] });
    const identity = { dn: "CN=alice, O=Example", method: "PASSWORD_FILE", via: "PASSWORD" };
    site.signIn = { identity, userName: "alice", ends: 0, idleMinutes: 1, formToken: "t", active() {} };
    const rest = await begun(await site.ask("alice", "GET", `access/HPC/${id}/big`));
    await end?.(site, id);
    await running.poll();
    assert.equal(await inTime(rest(), "the end of the look"), whole);
  }
});

Deno.test("RunningUses ends a transfer at the end of its share even if the database is down", async () => {
  let now = 0;
  const ended: string[] = [];
  const away = new RunningUses({ get: () => Promise.reject(new Error("away")) }, () => now, () => () => {});
  await using site = await SharingSite.open();
  const share = await site.parts.store.get("HPC", await site.share("d/"));
  assert.ok(share !== undefined);
  const over = away.add({ share: { ...share, expires: 100 }, address: "::1", end: (why) => ended.push(why) });
  await away.poll();
  assert.deepEqual(ended, []);
  now = 101_000;
  await away.poll();
  await away.poll();
  assert.deepEqual(ended, ["the share has expired"]);
  over();
});

Deno.test("RunningUses checks the shares of transfers regularly while there are transfers", async () => {
  await using site = await SharingSite.open();
  const share = await site.parts.store.get("HPC", await site.share("d/"));
  assert.ok(share !== undefined);
  const tasks: (() => unknown)[] = [];
  let cancelled = 0;
  let looks = 0;
  const get = () => {
    looks++;
    return Promise.resolve(share);
  };
  const uses = new RunningUses({ get }, () => 0, (ms, task) => {
    assert.equal(ms, 2000);
    tasks.push(task);
    return () => cancelled++;
  });
  const begin = () => uses.add({ share, address: "::1", end: () => assert.fail() });
  const over = [begin(), begin()];
  assert.equal(tasks.length, 1, "one wait for both");
  await tasks[0]?.();
  await tasks[1]?.();
  assert.deepEqual([tasks.length, looks], [3, 2], "one question for both");
  over[0]?.();
  await tasks[2]?.();
  assert.deepEqual([tasks.length, looks, cancelled], [4, 3, 0], "the other goes on");
  over[1]?.();
  assert.equal(cancelled, 1);
  begin();
  assert.equal(tasks.length, 5);
  await tasks[3]?.();
  assert.equal(tasks.length, 5, "what was cancelled waits no more");
});

Deno.test("RunningUses ends a transfer, once, if its share has ended or changed, and says why", async () => {
  await using site = await SharingSite.open();
  const share = await site.parts.store.get("HPC", await site.share("d/"));
  assert.ok(share !== undefined);
  const cases: readonly (readonly [now: Partial<Share> | undefined, why: string | undefined])[] = [
    [{ note: "other" }, undefined],
    [undefined, "the share has ended"],
    [{ password: "of others" }, "the share has another password"],
    [{ uid: "bob" }, "the share has another uid"],
    [{ access: "WRITE" }, "the share has another access"],
    [{ sources: ["192.0.2.0/24"] }, "the share is not for this address any more"],
    [{ sources: ["192.0.2.0/24", "::1/128"] }, undefined],
    [{ expires: 100 }, "the share has expired"],
  ];
  for (const [now, why] of cases) {
    const ended: string[] = [];
    const get = () => Promise.resolve(now && { ...share, ...now });
    const uses = new RunningUses({ get }, () => 200_000, () => () => {});
    uses.add({ share, address: "::1", end: (why) => ended.push(why) });
    await uses.poll();
    await uses.poll();
    assert.deepEqual(ended, why === undefined ? [] : [why]);
  }
});
