/** Uploads that contradict their first request, at several instances, and by processes that die. */
import assert from "node:assert/strict";
import { deleteDue } from "../../../../src/resource/access/drop/delete_part.ts";
import { UnfinishedUploads } from "../../../../src/resource/access/drop/unfinished_uploads.ts";
import { PathLocks } from "../../../../src/resource/share/path_locks.ts";
import { SILENT } from "../../../../src/logging/logger.ts";
import { ShareStore } from "../../../../src/sharing/store/share_store.ts";
import { SharingSite } from "../../sharing_site.ts";

const KEY = "0123456789abcdefghij";

async function setting(fields: Record<string, unknown> = {}, path = "d/") {
  const site = await SharingSite.open();
  const id = await site.share(path, { access: "DROP", lifetime: 100 * 24 * 3600, ...fields });
  const { store } = site.parts;
  /** Sends the next requests to another instance. */
  const useInstance = (used: ShareStore = store) => {
    site.parts = {
      ...site.parts,
      store: used,
      uploads: { locks: new PathLocks(), unfinished: new UnfinishedUploads(used.uploads) },
    };
  };
  const put = async (
    name: string,
    { body, range, key, length, to = id }: {
      readonly body?: string;
      readonly range?: string;
      readonly key?: string;
      readonly length?: boolean;
      readonly to?: string;
    },
  ) => {
    const query = key === undefined ? "" : `?upload=${key}`;
    const response = await site.ask("anonymous", "PUT", `access/HPC/${to}/${name}${query}`, {
      ...(body !== undefined && { body: length === false ? new Blob([body]).stream() : body }),
      headers: {
        ...(length !== false && { "Content-Length": String(body?.length ?? 0) }),
        ...(range !== undefined && { "Content-Range": `bytes ${range}` }),
      },
    });
    await response.text();
    return response.status;
  };
  const shared = async () => (await (await site.ask("alice", "GET", `share/HPC/${id}`)).json()).share;
  const files = (below = "d") =>
    Array.from(Deno.readDirSync(`${site.root}/${below}`)).map(({ name }) => name).toSorted();
  return {
    site,
    id,
    store,
    useInstance,
    put,
    shared,
    files,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Bodies that exceed the 1000 bytes with which an upload began. */
const LONGER: readonly (readonly [string, { readonly range?: string; readonly length?: boolean }])[] = [
  ["of a known length", {}],
  ["of unknown length", { length: false }],
  ["as a piece of a longer file", { range: "10-4999/5000" }],
  ["as a piece that is longer than it says", { range: "10-999/1000", length: false }],
];
for (const [what, form] of LONGER) {
  Deno.test(`an upload writes no more than its announced size, with a body ${what}`, async () => {
    await using at = await setting({ maxBytes: 1000 });
    assert.equal(await at.put("f", { body: "0123456789", range: "0-9/1000", key: KEY }), 202);
    assert.ok(
      await at.put("f", {
        body: "x".repeat(form.range?.includes("5000") ? 4990 : 5000),
        key: KEY,
        ...form,
      }) >= 400,
    );
    await at.site.site.allClosed();
    const sizes = at.files().filter((name) => name.startsWith("f")).map((name) =>
      Deno.statSync(`${at.site.root}/d/${name}`).size
    );
    assert.ok(sizes.every((size) => size <= 1000), `${sizes}`);
    assert.deepEqual((await at.shared()).received, { files: 1, bytes: 1000 });
    assert.equal(
      await at.put("f", { body: "y".repeat(1000), key: KEY }),
      201,
      "what was announced may come whole",
    );
    assert.deepEqual((await at.shared()).received, { files: 1, bytes: 1000 });
  });
}

Deno.test("an upload keeps the name it began with, in the directory and in the log of uses", async () => {
  await using at = await setting();
  assert.equal(await at.put("victim", { body: "01", range: "0-1/4", key: KEY }), 202);
  assert.ok(at.files().every((name) => !name.includes(KEY)), "the key is in no name");
  assert.equal(await at.put("other", { body: "23", range: "2-3/4", key: KEY }), 201);
  assert.ok(at.files().includes("victim") && !at.files().includes("other"));
  assert.match((await at.shared()).uses[0].path, /\/victim$/);
});

Deno.test("an upload that is cut creates no directory", async () => {
  await using at = await setting({ maxFiles: 3 });
  assert.equal(await at.put("a/b/f", { body: "01", range: "0-1/4", key: KEY }), 202);
  assert.ok(!at.files().includes("a"));
  assert.deepEqual((await at.shared()).received, { files: 1, bytes: 4 });
  assert.equal(await at.put("a/b/f", { body: "23", range: "2-3/4", key: KEY }), 201);
  assert.deepEqual((await at.shared()).received, { files: 3, bytes: 4 });
});

Deno.test("one upload sent to several instances at once creates one file", async () => {
  await using at = await setting({ maxFiles: 6 });
  for (let round = 0; round < 6; round++) {
    const key = `${KEY}${round}`;
    const upload = () => {
      at.useInstance();
      return at.put(`f${round}`, { body: "0123", key });
    };
    const statuses = await Promise.all([upload(), upload(), upload()]);
    assert.ok(statuses.includes(201), `${statuses}`);
    assert.equal(at.files().filter((name) => name.startsWith(`f${round}`)).length, 1);
  }
  assert.deepEqual((await at.shared()).received, { files: 6, bytes: 24 });
});

Deno.test("files of one name that arrive by two shares, at two instances, are both kept", async () => {
  await using at = await setting();
  const inner = await at.site.share("d/sub/", { access: "DROP" });
  for (const name of "abcdefghij") {
    at.useInstance();
    const outerPut = at.put(`sub/${name}`, { body: "outer" });
    at.useInstance();
    const innerPut = at.put(name, { body: "inner", to: inner });
    assert.deepEqual(await Promise.all([outerPut, innerPut]), [201, 201]);
    const texts = [name, `${name} (2)`].map((each) => Deno.readTextFileSync(`${at.site.root}/d/sub/${each}`));
    assert.deepEqual(texts.toSorted(), ["inner", "outer"]);
  }
});

/** Returns the store of a process that dies before or after a transaction; its later transactions fail. */
function dying(
  { database, recorder }: ShareStore,
  step: number,
  moment: "before" | "after",
): { store: ShareStore; isDead(): boolean } {
  let steps = 0;
  const isDead = () => steps > step || (steps === step && moment === "before");
  const proxy = new Proxy(database, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      if (name !== "change" && name !== "read") return method.bind(target);
      return async (...values: unknown[]) => {
        steps++;
        if (isDead()) throw new Error("the process is dead");
        const result: unknown = await method.apply(target, values);
        if (steps === step) {
          steps++;
          throw new Error("the process is dead");
        }
        return result;
      };
    },
  });
  return { store: new ShareStore(proxy, recorder), isDead: () => isDead() };
}

for (const moment of ["before", "after"] as const) {
  Deno.test(`an upload whose process dies ${moment} any step is stored and counted once when it is repeated`, async () => {
    await using at = await setting({ maxFiles: 60 });
    let died = true;
    for (let step = 1; died; step++) {
      const process = dying(at.store, step, moment);
      const key = `${KEY}${step}`;
      at.useInstance(process.store);
      await at.put(`x${step}/f`, { body: "0123", key }).catch(() => {});
      died = process.isDead();
      at.site.time.ahead += 20_000;
      at.useInstance();
      assert.equal(await at.put(`x${step}/f`, { body: "0123", key }), 201, `step ${step}`);
      assert.deepEqual(at.files(`d/x${step}`), ["f"]);
      assert.deepEqual((await at.shared()).received, { files: 2 * step, bytes: 4 * step });
      assert.ok(step < 20);
    }
  });

  Deno.test(`an upload whose process dies ${moment} any step and that no client repeats frees its quota once`, async () => {
    await using at = await setting({ maxFiles: 60 });
    let died = true;
    for (let step = 1; died; step++) {
      const process = dying(at.store, step, moment);
      at.useInstance(process.store);
      await at.put(`y${step}`, { body: "0123" }).catch(() => {});
      died = process.isDead();
      at.site.time.ahead += 25 * 3_600_000;
      at.useInstance();
      await Promise.all([deleteDue(at.site.parts, SILENT), deleteDue(at.site.parts, SILENT)]);
      const there = at.files().filter((name) => name.startsWith("y"));
      assert.ok(there.every((name) => !name.endsWith(".part")), `${there}`);
      const received = (await at.shared()).received ?? { files: 0, bytes: 0 };
      assert.deepEqual(received, { files: there.length, bytes: 4 * there.length });
      assert.ok(step < 20);
    }
  });
}

Deno.test("an upload to a full disk is answered with 507", async () => {
  await using at = await setting();
  const { sessionFaults } = at.site.site.daemon;
  sessionFaults.always = {
    kind: "reply",
    to: "STOR",
    reply: "500 Error processing command 'STOR': [Errno 28] No space left on device",
  };
  assert.equal(await at.put("f", { body: "0123" }), 507);
});

Deno.test("a file replaces another even if the rename of an earlier upload of that name failed for good", async () => {
  await using at = await setting({ access: "MODIFY" });
  at.site.site.daemon.sessionFaults.queue.push({ kind: "unterminated-reply", to: "RNTO" });
  assert.equal(await at.put("ten.txt", { body: "first", key: KEY }), 502);
  assert.equal(await at.put("ten.txt", { body: "second", key: `${KEY}x` }), 200);
  assert.equal(await Deno.readTextFile(`${at.site.root}/d/ten.txt`), "second");
  assert.equal(await at.put("ten.txt", { body: "third", key: KEY }), 200);
  assert.deepEqual(at.files(), ["sub", "ten.txt"]);
});
