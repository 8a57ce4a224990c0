import assert from "node:assert/strict";
import type { Clock } from "../../../src/model/clock.ts";
import type { CreationRights, Share, ShareDraft, UseStart } from "../../../src/sharing/share.ts";
import type { Page, ShareStore } from "../../../src/sharing/store/share_store.ts";
import type { Upload } from "../../../src/sharing/store/upload_store.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { allShares } from "./all_shares.ts";

const ANYBODY = "cn=anonymous,o=unknown,ou=unknown";

export const DRAFT: ShareDraft = {
  path: "/data/d/",
  owner: "cn=alice,o=example",
  target: ANYBODY,
  uid: "alice",
  gid: "hpc",
  access: "READ",
  expires: 0,
  oneTime: false,
  sources: [],
};

export const USE: UseStart = { who: ANYBODY, address: "192.0.2.7", kind: "HTTP-download", path: "/data/d/x" };

export const MADE: CreationRights = {
  owner: { dn: "CN=Alice, O=Example", via: "PASSWORD", login: "ali", uid: "alice", name: "Alice Example" },
  mappedGroup: true,
  mappedRole: false,
  atHome: false,
  limits: { includes: "/data/*", excludes: "*.key" },
};

const AT_HOME: CreationRights = { ...MADE, atHome: true };

export function uploadOf(share: string, key: string, { bytes = 0 }: { readonly bytes?: number }): Upload {
  return {
    server: "HPC",
    share,
    key,
    uid: "alice",
    part: `/data/d/${key}.part`,
    name: key,
    files: 1,
    bytes,
    finished: false,
  };
}

interface Opened {
  readonly store: ShareStore;
  close(): Promise<void> | void;
}

/** Registers the tests for every share store. @param create Opens an empty store with the clock of a test. */
export function testShareStore(name: string, create: (clock: Clock) => Promise<Opened> | Opened): void {
  const fact = (
    title: string,
    check: (store: ShareStore, time: { now: number }) => Promise<void>,
  ) => {
    Deno.test(`${name} ${title}`, async () => {
      const time = { now: 1_700_000_000_000 };
      const { store, close } = await create(() => time.now);
      try {
        await check(store, time);
      } finally {
        await close();
      }
    });
  };
  const seconds = (time: { now: number }) => time.now / 1000;

  fact("returns a share as it was put in", async (store, time) => {
    const draft: ShareDraft = {
      ...DRAFT,
      access: "MODIFY",
      expires: seconds(time) + 9,
      usesLeft: 3,
      sources: ["10.0.0.0/8", "::1"],
      made: MADE,
      note: "Ann's results",
      password: "$scrypt$…",
      quota: { files: 3, bytes: 10 },
      mail: "ann@example.org",
    };
    const share = await store.put("HPC", draft);
    const { id, ...rest } = share;
    assert.match(id, /^[0-9A-Za-z]{22}$/);
    assertAlike(rest, { ...draft, server: "HPC", accessCount: 0, created: time.now });
    assert.deepEqual(await store.get("HPC", id), share);
  });

  fact(
    "continues a person's use for an hour, and counts another one for anybody else",
    async (store, time) => {
      const { id } = await store.put("HPC", { ...DRAFT, usesLeft: 2 });
      const continues = { version: "v1", visitor: "cookie", ranged: false };
      const use = { ...USE, continues };
      const left = async () => (await store.get("HPC", id))?.usesLeft;
      const claim = async (other: Partial<UseStart>) => {
        const claimed = await store.claim("HPC", id, { ...use, ...other });
        assert.ok(claimed);
        await store.finish(claimed, { bytes: 3, complete: true });
        return claimed;
      };
      assert.equal((await claim({})).continued, false);
      assert.equal(await left(), 1);
      const elsewhere = "198.51.100.9";
      const same: Partial<UseStart>[] = [
        {},
        { address: elsewhere },
        { continues: { ...continues, visitor: "none", ranged: true } },
      ];
      for (const each of same) assert.equal((await claim(each)).continued, true);
      assert.deepEqual([await left(), (await store.usesOf("HPC", id, 9)).map(({ bytes }) => bytes)], [1, [
        12,
      ]]);
      const others: Partial<UseStart>[] = [
        { continues: { ...continues, visitor: "none" } },
        { continues: { ...continues, visitor: "none", ranged: true }, address: elsewhere },
        { continues: { ...continues, version: "v2" } },
        { path: "/data/d/y" },
        { who: "cn=bob" },
      ];
      for (const each of others) {
        const { id } = await store.put("HPC", { ...DRAFT, path: "/data/e/", usesLeft: 2 });
        const first = await store.claim("HPC", id, use);
        assert.ok(first);
        await store.finish(first, { bytes: 3, complete: true });
        assert.equal(
          (await store.claim("HPC", id, { ...use, ...each }))?.continued,
          false,
          JSON.stringify(each),
        );
        assert.equal(
          await store.claim("HPC", id, { ...use, ...each, who: "cn=carol" }),
          undefined,
          "used up",
        );
        await store.remove("HPC", id);
      }
      time.now += 3_600_001;
      assert.equal((await claim({})).continued, false);
      assert.equal(await store.claim("HPC", id, { ...use, who: "cn=bob" }), undefined);
    },
  );

  fact(
    "continues an interrupted download from the same address, and counts one use for parallel ranges",
    async (store) => {
      const { id } = await store.put("HPC", { ...DRAFT, oneTime: true });
      const part = (ranged: boolean) => ({
        ...USE,
        continues: { version: "v", visitor: `${Math.random()}`, ranged },
      });
      const claims = await Promise.all(Array.from({ length: 8 }, () => store.claim("HPC", id, part(true))));
      assert.equal(claims.filter((each) => each?.continued === false).length, 1);
      assert.equal(claims.filter((each) => each?.continued).length, 7);
      const person = { who: ANYBODY, address: USE.address, visitor: "other" };
      assert.equal(await store.canContinue("HPC", id, { ...person, ranged: true }), true);
      assert.equal(await store.canContinue("HPC", id, { ...person, ranged: false }), false, "still running");
      assert.equal(await store.claim("HPC", id, part(false)), undefined);
      const [first] = claims;
      assert.ok(first);
      await store.finish(first, { bytes: 2, complete: false });
      assert.equal(await store.canContinue("HPC", id, { ...person, ranged: false }), true);
      assert.equal((await store.claim("HPC", id, part(false)))?.continued, true);
    },
  );

  fact("does not undo a use that another request continued", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, oneTime: true });
    const use = { ...USE, continues: { version: "v", visitor: "cookie", ranged: true } };
    const first = await store.claim("HPC", id, use);
    const second = await store.claim("HPC", id, use);
    assert.ok(first !== undefined && second !== undefined);
    await store.release(second);
    await store.release(first);
    assert.equal((await store.get("HPC", id))?.usesLeft, 0);
    assert.equal(await store.claim("HPC", id, { ...use, who: "cn=bob" }), undefined);
  });

  fact("records views without a use, and none of a share that does not exist", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, oneTime: true });
    await store.recordView("HPC", id, { ...USE, kind: "HTTP-look" });
    await store.recordView("HPC", "none", { ...USE, kind: "HTTP-look" });
    const share = await store.get("HPC", id);
    assert.deepEqual([share?.usesLeft, share?.accessCount], [1, 0]);
    assert.deepEqual((await store.usesOf("HPC", id, 9)).map(({ kind }) => kind), ["HTTP-look"]);
    const person = { who: ANYBODY, address: USE.address, visitor: "x", ranged: true };
    assert.equal(await store.canContinue("HPC", id, person), false);
  });

  fact("stores a share for uploads only, also with new terms", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP", quota: { files: 1 } });
    const stored = await store.get("HPC", id);
    assert.deepEqual([stored?.access, stored?.quota?.files, stored?.quota?.bytes], ["DROP", 1, undefined]);
    const renewed = await store.put("HPC", { ...DRAFT, access: "WRITE" });
    assert.deepEqual([renewed.id, renewed.access, renewed.quota], [id, "WRITE", undefined]);
  });

  fact(
    "admits no upload beyond a quota, even simultaneous ones, and frees what each took, once",
    async (store) => {
      const { id } = await store.put("HPC", { ...DRAFT, access: "DROP", quota: { files: 5, bytes: 100 } });
      const { uploads } = store;
      const received = async () => (await store.get("HPC", id))?.received;
      const begun = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) => uploads.begin(uploadOf(id, `k${i}`, { bytes: 10 }), "me")),
      );
      const keys = begun.flatMap((each, i) => each.status === "fulfilled" ? `k${i}` : []);
      assert.equal(keys.length, 5);
      for (const each of begun) {
        if (each.status === "rejected") {
          assert.equal(each.reason.code, "ERR_QUOTA_USED");
        }
      }
      const [first = "", second = ""] = keys;
      await Promise.all(
        Array.from({ length: 3 }, () => uploads.delete({ server: "HPC", share: id, key: first })),
      );
      assert.deepEqual(await received(), { files: 4, bytes: 40 });
      const held = { server: "HPC", share: id, key: second };
      await assert.rejects(uploads.resize(held, "me", { files: 3, bytes: 10 }), { code: "ERR_QUOTA_USED" });
      await assert.rejects(uploads.resize(held, "me", { files: 1, bytes: 71 }), { code: "ERR_QUOTA_USED" });
      await assert.rejects(uploads.resize(held, "other", { files: 1, bytes: 1 }), {
        code: "ERR_UPLOAD_INCOMPLETE",
      });
      await uploads.resize(held, "me", { files: 2, bytes: 4 });
      assert.deepEqual(await received(), { files: 5, bytes: 34 });
      await uploads.delete(held);
      assert.deepEqual(await received(), { files: 4, bytes: 30 }, "the directory stays");
      await assert.rejects(uploads.begin(uploadOf(id, keys[2] ?? "", {}), "other"), {
        code: "ERR_UPLOAD_INCOMPLETE",
      });
      assert.deepEqual(await received(), { files: 4, bytes: 30 }, "nothing is taken twice");
      await assert.rejects(uploads.begin(uploadOf("none", "k", {}), "me"), { code: "ERR_QUOTA_USED" });
    },
  );

  fact("accepts no more bytes than it can count, even without a quota", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP" });
    const { uploads } = store;
    const begun = await Promise.allSettled(
      Array.from({ length: 9 }, (_, i) => uploads.begin(uploadOf(id, `k${i}`, { bytes: 2 ** 50 }), "me")),
    );
    const received = async () => (await store.get("HPC", id))?.received;
    assert.deepEqual(await received(), { files: 4, bytes: 2 ** 52 });
    assert.equal((await store.ownedBy("HPC", DRAFT.owner)).length, 1);
    const refused = begun.flatMap((each) => each.status === "rejected" ? [each.reason.code] : []);
    assert.deepEqual(refused, Array(5).fill("ERR_QUOTA_USED"));
    const key = `k${begun.findIndex(({ status }) => status === "fulfilled")}`;
    await uploads.delete({ server: "HPC", share: id, key });
    await uploads.begin(uploadOf(id, "more", { bytes: 3 }), "me");
    assert.deepEqual(await received(), { files: 4, bytes: 3 * 2 ** 50 + 3 });
  });

  fact(
    "counts uploads under way when a share becomes one for uploads, on all its servers",
    async (store, time) => {
      const there = {
        ...DRAFT,
        access: "WRITE",
        server: "A",
        id: "copied",
        accessCount: 0,
        created: time.now,
      } as const;
      await store.addAll([there, { ...there, server: "B" }]);
      const { uploads } = store;
      const begin = (server: string, key: string, bytes: number) =>
        uploads.begin({ ...uploadOf("copied", key, { bytes }), server }, "me");
      await begin("A", "done", 100);
      await uploads.finish({ server: "A", share: "copied", key: "done" }, true);
      await begin("A", "a", 3);
      await begin("B", "b", 4);
      const others = await store.put("A", { ...DRAFT, path: "/data/e/", access: "WRITE" });
      await uploads.begin({ ...uploadOf(others.id, "x", { bytes: 50 }), server: "A" }, "me");
      await store.put("A", { ...DRAFT, access: "DROP", quota: { bytes: 10 } });
      for (const server of ["A", "B"]) {
        assert.deepEqual((await store.get(server, "copied"))?.received, { files: 2, bytes: 7 }, server);
      }
      await store.put("A", { ...DRAFT, access: "DROP", quota: { bytes: 9 } });
      await assert.rejects(begin("B", "c", 3), { code: "ERR_QUOTA_USED" });
      await uploads.delete({ server: "B", share: "copied", key: "b" });
      assert.deepEqual((await store.get("A", "copied"))?.received, { files: 1, bytes: 3 });
    },
  );

  fact("limits the number of uploads under way, but not of finished ones", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP" });
    const { uploads } = store;
    for (let i = 0; i < 3; i++) {
      await uploads.begin(uploadOf(id, `done${i}`, {}), "me");
      await uploads.finish({ server: "HPC", share: id, key: `done${i}` }, true);
    }
    for (let i = 0; i < 500; i++) await uploads.begin(uploadOf(id, `open${i}`, {}), crypto.randomUUID());
    await assert.rejects(uploads.begin(uploadOf(id, "more", {}), "me"), { code: "ERR_TOO_MANY_UPLOADS" });
    assert.deepEqual((await store.get("HPC", id))?.received, { files: 503, bytes: 0 });
  });

  fact(
    "leaves others as many unfinished uploads as a client has begun, whoever resumes them",
    async (store) => {
      const { id } = await store.put("HPC", { ...DRAFT, access: "DROP" });
      const { uploads } = store;
      const begin = async (client: string, i: number) => {
        await uploads.begin(uploadOf(id, `${client}${i}`, {}), "begins", client.repeat(32));
        const key = { server: "HPC", share: id, key: `${client}${i}` };
        if (i % 3 === 0) return;
        await uploads.release(key, "begins");
        if (i % 3 === 1) return;
        assert.notEqual(await uploads.acquire(key, "resumes"), "busy");
        await uploads.release(key, "resumes");
      };
      for (const [client, most] of [["a", 250], ["b", 125], ["c", 63], ["d", 31]] as const) {
        for (let i = 0; i < most; i++) await begin(client, i);
        await assert.rejects(begin(client, most), { code: "ERR_TOO_MANY_UPLOADS" }, client);
      }
      for (const key of ["d1", "d2"]) await uploads.delete({ server: "HPC", share: id, key });
      await begin("d", 1);
      await assert.rejects(begin("a", 250), { code: "ERR_TOO_MANY_UPLOADS" });
      await begin("e", 0);
    },
  );

  fact("lets one request hold an upload, until it leaves or no longer renews", async (store, time) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP" });
    const { uploads } = store;
    const key = { server: "HPC", share: id, key: "k" };
    assert.equal(await uploads.acquire(key, "a"), undefined, "nothing has begun");
    await uploads.begin(uploadOf(id, "k", {}), "a");
    assert.equal(await uploads.renew(key, "a"), true);
    assert.equal(await uploads.acquire(key, "b"), "busy");
    assert.equal(await uploads.renew(key, "a"), false, "another request wants it");
    await uploads.release(key, "a");
    assertAlike(await uploads.acquire(key, "b"), uploadOf(id, "k", {}));
    time.now += 16_000;
    assertAlike(await uploads.acquire(key, "c"), uploadOf(id, "k", {}));
    assert.equal(await uploads.renew(key, "b"), false, "it was lost");
    await uploads.release(key, "b");
    assert.equal(await uploads.acquire(key, "d"), "busy", "only the holder lets go");
  });

  fact("gives a path to one unfinished upload, even through different shares", async (store) => {
    const { id: outer } = await store.put("HPC", { ...DRAFT, access: "DROP" });
    const { id: inner } = await store.put("HPC", { ...DRAFT, path: "/data/d/in/", access: "DROP" });
    const { uploads } = store;
    await uploads.begin(uploadOf(outer, "a", {}), "a");
    await uploads.begin(uploadOf(inner, "b", {}), "b");
    const ids = [{ server: "HPC", share: outer, key: "a" }, {
      server: "HPC",
      share: inner,
      key: "b",
    }] as const;
    const named = await Promise.all(ids.map((id) => uploads.setTarget(id, id.key, "/data/d/in/x")));
    assert.equal(named.filter(Boolean).length, 1, "either may come first");
    const [a, b] = named[0] ? ids : [ids[1], ids[0]];
    assert.equal(await uploads.setTarget(b, a.key, "/data/d/in/y"), false, "it is not held");
    await uploads.setTarget(a, a.key, undefined);
    assert.equal(await uploads.setTarget(b, b.key, "/data/d/in/x"), true);
    await uploads.finish(b, true);
    assert.equal(
      await uploads.setTarget(a, a.key, "/data/d/in/x"),
      true,
      "what is there is the daemon's to say",
    );
    const kept = await uploads.acquire(b, "c");
    assert.equal(typeof kept === "object" && kept.target, "/data/d/in/x");
  });

  fact("lets only a replacing upload take the path of one that nobody holds", async (store, time) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "MODIFY" });
    const { uploads } = store;
    const idOf = (key: string) => ({ server: "HPC", share: id, key });
    await uploads.begin(uploadOf(id, "a", {}), "a");
    await uploads.begin(uploadOf(id, "b", {}), "b");
    const replace = () => uploads.setTarget(idOf("b"), "b", "/data/d/x", true);
    await uploads.setTarget(idOf("a"), "a", "/data/d/x");
    assert.equal(await replace(), false, "it is held");
    time.now += 16_000;
    assert.equal(await uploads.renew(idOf("b"), "b"), true);
    assert.equal(await uploads.setTarget(idOf("b"), "b", "/data/d/x"), false, "it does not replace");
    assert.equal(await replace(), true);
    const left = await uploads.acquire(idOf("a"), "c");
    assert.equal(typeof left === "object" && left.target, undefined);
    const aside = { ...uploadOf(`~alice`, "c", {}), files: 0, bytes: 0, target: "/data/d/y" };
    await uploads.begin(aside, "c");
    time.now += 16_000;
    assert.equal(await uploads.setTarget(idOf("b"), "b", "/data/d/y", true), false, "it is to be put back");
  });

  fact(
    "reports set-aside files as due when nobody holds them, and temporary files a day later",
    async (store, time) => {
      const { uploads } = store;
      const begun = { ...uploadOf("~alice", "part", {}), files: 0, name: "/data/d/part.part" };
      const aside = { ...uploadOf("~alice", "aside", {}), files: 0, target: "/data/d/x" };
      for (const upload of [begun, aside]) await uploads.begin(upload, "a");
      const due = async () => (await uploads.due()).map(({ key }) => key);
      for (const hours of [1, 23, 1]) {
        time.now += hours * 3_600_000;
        assert.deepEqual(await due(), ["aside"]);
        for (const upload of [begun, aside]) assert.equal(await uploads.renew(upload, "a"), true);
      }
      time.now += 24 * 3_600_000;
      assert.deepEqual(await due(), ["aside", "part"]);
    },
  );

  fact("counts the age of an upload from its last byte", async (store, time) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP" });
    const { uploads } = store;
    const key = { server: "HPC", share: id, key: "k" };
    await uploads.begin(uploadOf(id, "k", {}), "a");
    time.now += 23 * 3_600_000;
    assert.equal(await uploads.renew(key, "a"), true);
    time.now += 23 * 3_600_000;
    assert.deepEqual(await uploads.due(), []);
    assert.equal(await uploads.acquireDue(key, "cleaner"), undefined);
    time.now += 2 * 3_600_000;
    assert.deepEqual((await uploads.due()).map((each) => each.key), ["k"]);
    await uploads.acquire(key, "b");
    assert.equal(await uploads.acquireDue(key, "cleaner"), undefined, "a request has it");
  });

  fact("keeps servers apart (D19)", async (store) => {
    const { id } = await store.put("A", DRAFT);
    assert.equal(await store.get("B", id), undefined);
    assert.deepEqual(await store.ownedBy("B", DRAFT.owner), []);
    assert.deepEqual(await store.withPaths("B", [DRAFT.path], [ANYBODY]), []);
    assert.equal(await store.claim("B", id, USE), undefined);
    assert.equal(await store.remove("B", id), false);
    assert.equal(await store.removeByPath("B", DRAFT.owner, DRAFT.path, DRAFT.target), 0);
    assert.equal((await allShares(store, "A")).length, 1);
    assert.equal((await allShares(store, "B")).length, 0);
    assert.equal((await allShares(store)).length, 1);
    assert.equal(await store.count(), 1);
  });

  fact("updates in place only for the same owner, path and target (D3)", async (store) => {
    const anonymous = await store.put("A", DRAFT);
    await store.claim("A", anonymous.id, USE);
    const named = await store.put("A", { ...DRAFT, target: "cn=bob", access: "WRITE" });
    assert.notEqual(named.id, anonymous.id);
    assert.equal((await store.get("A", anonymous.id))?.access, "READ");
    const other = await store.put("A", { ...DRAFT, owner: "cn=carol", made: AT_HOME });
    assert.notEqual(other.id, anonymous.id);
    const again = await store.put("A", { ...DRAFT, oneTime: true, uid: "alice2" });
    assert.equal(again.id, anonymous.id);
    assert.equal(again.oneTime, true);
    assert.equal(again.usesLeft, 1);
    assert.equal(again.accessCount, 1);
    assert.equal(again.uid, "alice");
  });

  fact(
    "creates no more shares than an owner may have, and still changes existing ones",
    async (store, time) => {
      const at = (path: string) => store.put("A", { ...DRAFT, path, expires: seconds(time) + 9 }, 2);
      const first = await at("/data/1");
      await at("/data/2");
      await assert.rejects(at("/data/3"), { code: "ERR_TOO_MANY_SHARES" });
      assert.equal((await at("/data/1")).id, first.id);
      await store.put("B", DRAFT, 2);
      await store.put("A", { ...DRAFT, owner: "cn=carol", path: "/data/3" }, 2);
      await store.remove("A", first.id);
      await at("/data/4");
      await assert.rejects(at("/data/5"), { code: "ERR_TOO_MANY_SHARES" });
      time.now += 11_000;
      await at("/data/5");
    },
  );

  fact("creates a new share when the old one is used up", async (store) => {
    const first = await store.put("A", { ...DRAFT, oneTime: true });
    assert.ok(await store.claim("A", first.id, USE));
    const second = await store.put("A", { ...DRAFT, oneTime: true });
    assert.notEqual(second.id, first.id);
    assert.equal(second.usesLeft, 1);
  });

  fact("lists by owner, target and path", async (store, time) => {
    const one = await store.put("A", DRAFT);
    time.now++;
    const two = await store.put("A", { ...DRAFT, path: "/data/", target: "cn=bob" });
    const ids = (shares: readonly Share[]) => shares.map((share) => share.id);
    assert.deepEqual(ids(await store.ownedBy("A", DRAFT.owner)), [one.id, two.id]);
    assert.deepEqual(ids(await store.targetedAt("A", ["cn=bob"])), [two.id]);
    const paths = ["/data/d/", "/data/", "/"];
    assert.deepEqual(ids(await store.withPaths("A", paths, ["cn=bob", ANYBODY])), [one.id, two.id]);
    assert.deepEqual(ids(await store.withPaths("A", paths, ["cn=carol", ANYBODY])), [one.id]);
    assert.deepEqual(ids(await store.withPaths("A", ["/data/d"], ["cn=bob", ANYBODY])), []);
    assert.deepEqual(ids(await store.withPaths("A", [], ["cn=bob", ANYBODY])), []);
    assert.equal(await store.anyWithPaths("A", ["/data/"]), true);
    assert.equal(await store.anyWithPaths("A", ["/data", "/"]), false);
  });

  fact("lists in parts", async (store, time) => {
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      if (i % 3 === 0) time.now++;
      ids.push((await store.put("A", { ...DRAFT, path: `/${i}` })).id);
    }
    const found: Share[] = [];
    for (
      let part: readonly Share[];
      (part = await store.ownedBy("A", DRAFT.owner, { after: found.at(-1), most: 2 })).length > 0;
    ) {
      assert.ok(part.length <= 2);
      found.push(...part);
    }
    assert.deepEqual(found.map(({ id }) => id).toSorted(), ids.toSorted());
    assert.deepEqual(found, await store.ownedBy("A", DRAFT.owner));
    const rest = await store.targetedAt("A", [DRAFT.target], { after: found[4] });
    assert.deepEqual(rest, found.slice(5));
  });

  fact("lists shares for several targets in one order, in parts", async (store, time) => {
    const all = ["cn=bob", "group:hpc", "group:users"];
    for (let i = 0; i < 9; i++) {
      if (i % 4 === 0) time.now++;
      await store.put("A", { ...DRAFT, path: `/${i}`, target: all[i % 3] ?? "" });
    }
    await store.put("A", { ...DRAFT, path: "/other", target: "group:other" });
    await store.put("A", { ...DRAFT, path: "/everybody" });
    const whole = await store.targetedAt("A", [...all, ...all, "group:none"]);
    assert.equal(whole.length, 9);
    const found: Share[] = [];
    for (
      let part: readonly Share[];
      (part = await store.targetedAt("A", all, { after: found.at(-1), most: 2 })).length > 0;
    ) {
      assert.ok(part.length <= 2);
      found.push(...part);
    }
    assert.deepEqual(found, whole);
    assert.deepEqual(await store.targetedAt("A", []), []);
    assert.equal((await store.targetedAt("A", ["group:hpc"])).length, 3);
  });

  fact("finds by path shares for one of several targets, and none for others", async (store) => {
    const ids: string[] = [];
    for (const target of ["cn=bob", "group:hpc", "group:HPC", ANYBODY]) {
      ids.push((await store.put("A", { ...DRAFT, target })).id);
    }
    const found = async (...targets: string[]) =>
      (await store.withPaths("A", [DRAFT.path], targets)).map(({ id }) => ids.indexOf(id)).toSorted();
    assert.deepEqual(await found("cn=bob", "group:hpc", ANYBODY), [0, 1, 3]);
    assert.deepEqual(await found("cn=bob", ANYBODY), [0, 3]);
    assert.deepEqual(await found("cn=carol", "group:users"), []);
    assert.deepEqual(await found("group:%", "group:", "hpc"), []);
    assert.deepEqual(await found(), []);
  });

  fact("lists pages with any number of expired shares between valid ones", async (store, time) => {
    const lasting: string[] = [];
    for (let i = 0; i < 24; i++) {
      time.now++;
      const expires = i % 6 === 0 ? 0 : 5 + Math.floor(seconds(time));
      const server = i < 12 ? "A" : "B";
      const made = await store.put(server, { ...DRAFT, path: `/data/${i}`, expires });
      if (expires === 0) lasting.push(`${server}/${made.id}`);
    }
    time.now += 60_000;
    for (const listed of [{}, { server: "A" }, { server: "B", owner: DRAFT.owner }, { owner: DRAFT.owner }]) {
      for (const [most, scan] of [[1, 1], [2, 3], [3, 2], [2, 100], [100, 5], [4, undefined]] as const) {
        const found: string[] = [];
        let after: Page["next"];
        do {
          const page: Page = await store.page(listed, {
            after,
            most,
            ...(scan === undefined ? {} : { scan }),
          });
          assert.ok(page.shares.length <= most);
          found.push(...page.shares.map(({ server, id }) => `${server}/${id}`));
          after = page.next;
        } while (after !== undefined);
        const expected = lasting.filter((place) => place.startsWith(listed.server ?? ""));
        assert.deepEqual(found.toSorted(), expected.toSorted(), JSON.stringify([listed, most, scan]));
      }
    }
  });

  fact("hides expired shares and purges them", async (store, time) => {
    const { id } = await store.put("A", { ...DRAFT, expires: seconds(time) + 5 });
    time.now += 5999;
    assert.ok(await store.get("A", id));
    assert.equal(await store.purge(), 0);
    time.now += 1;
    assert.equal(await store.get("A", id), undefined);
    assert.deepEqual(await store.ownedBy("A", DRAFT.owner), []);
    assert.deepEqual(await store.targetedAt("A", [DRAFT.target]), []);
    assert.deepEqual(await store.withPaths("A", [DRAFT.path], [ANYBODY]), []);
    assert.deepEqual(await allShares(store), []);
    assert.equal(await store.count(), 0);
    assert.equal(await store.claim("A", id, USE), undefined);
    assert.equal(await store.change("A", id, { expires: 0 }), undefined);
    assert.equal(await store.purge(), 1);
    assert.equal(await store.purge(), 0);
  });

  fact("purges any number of shares, and lets other work run in between", async (store, time) => {
    for (let i = 0; i < 90; i++) {
      await store.put("A", { ...DRAFT, path: `/${i}`, expires: seconds(time) + 1 });
    }
    const lives = await store.put("A", DRAFT);
    time.now += 3000;
    const purged = store.purge();
    assert.ok(await store.claim("A", lives.id, USE));
    assert.equal(await purged, 90);
    assert.deepEqual((await allShares(store)).map(({ id }) => id), [lives.id]);
  });

  fact("grants a one-time share to exactly one of 200 parallel claims (D10)", async (store) => {
    const { id } = await store.put("A", { ...DRAFT, oneTime: true });
    const claims = await Promise.all(Array.from({ length: 200 }, () => store.claim("A", id, USE)));
    assert.equal(claims.filter((claim) => claim !== undefined).length, 1);
    assert.equal((await store.get("A", id))?.accessCount, 1);
    assert.deepEqual(await store.ownedBy("A", DRAFT.owner), []);
    assert.deepEqual(await store.withPaths("A", [DRAFT.path], [ANYBODY]), []);
  });

  fact("gives a one-time share at most one use, for any configured number", async (store) => {
    const left = async (path: string, usesLeft: number) =>
      (await store.put("A", { ...DRAFT, path, oneTime: true, usesLeft })).usesLeft;
    assert.deepEqual([await left("/3", 3), await left("/1", 1), await left("/0", 0)], [1, 1, 0]);
  });

  fact("counts down the remaining uses", async (store) => {
    const { id } = await store.put("A", { ...DRAFT, usesLeft: 2 });
    assert.equal((await store.claim("A", id, USE))?.share.usesLeft, 1);
    assert.equal((await store.claim("A", id, USE))?.share.usesLeft, 0);
    assert.equal(await store.claim("A", id, USE), undefined);
  });

  fact("records a use together with its upload, or neither", async (store) => {
    const { id } = await store.put("HPC", { ...DRAFT, access: "DROP", quota: { files: 1, bytes: 10 } });
    const claimFor = (key: string) => {
      const upload = uploadOf(id, key, { bytes: 10 });
      const also = () => store.uploads.beginning(upload, "me");
      return store.claim("HPC", id, USE, { also, ...store.uploads.changeOptions(upload) });
    };
    const claim = await claimFor("one");
    assert.ok(claim);
    await assert.rejects(claimFor("two"), { code: "ERR_QUOTA_USED" });
    await assert.rejects(claimFor("one"), { code: "ERR_UPLOAD_INCOMPLETE" });
    const one = { server: "HPC", share: id, key: "one" };
    assert.equal(await store.uploads.isFinished(one), false);
    await store.finish(claim, { bytes: 10, complete: true }, () => store.uploads.finishing(one, true));
    assert.equal(await store.uploads.isFinished(one), true);
    assert.deepEqual((await store.usesOf("HPC", id, 10)).map(({ bytes }) => bytes), [10]);
    const share = await store.get("HPC", id);
    assert.deepEqual([share?.accessCount, share?.received], [1, { files: 1, bytes: 10 }]);
  });

  fact("undoes a claim exactly once", async (store) => {
    const { id } = await store.put("A", { ...DRAFT, oneTime: true });
    const claim = await store.claim("A", id, USE);
    assert.ok(claim);
    await store.release(claim);
    await store.release(claim);
    const share = await store.get("A", id);
    assert.equal(share?.usesLeft, 1);
    assert.equal(share?.accessCount, 0);
    assert.deepEqual(await store.usesOf("A", id, 10), []);
  });

  fact("does not return a use to a share whose terms have changed", async (store) => {
    const { id } = await store.put("A", { ...DRAFT, usesLeft: 2 });
    const claim = await store.claim("A", id, USE);
    assert.ok(claim);
    assert.equal((await store.put("A", { ...DRAFT, oneTime: true })).id, id);
    await store.release(claim);
    const share = await store.get("A", id);
    assert.deepEqual([share?.usesLeft, share?.accessCount], [1, 0]);
    assert.ok(await store.claim("A", id, USE));
    assert.equal(await store.claim("A", id, USE), undefined);
  });

  fact("does not return a use to a share whose owner has created another one meanwhile", async (store) => {
    const first = await store.put("A", { ...DRAFT, oneTime: true });
    const claim = await store.claim("A", first.id, USE);
    assert.ok(claim);
    const second = await store.put("A", { ...DRAFT, oneTime: true });
    await store.release(claim);
    assert.equal(await store.claim("A", first.id, USE), undefined);
    assert.ok(await store.claim("A", second.id, USE));
  });

  fact("undoes a claim on an unlimited share without limiting it", async (store) => {
    const { id } = await store.put("A", DRAFT);
    const claim = await store.claim("A", id, USE);
    assert.ok(claim);
    await store.release(claim);
    assert.equal((await store.get("A", id))?.usesLeft, undefined);
  });

  fact("records who used a share, newest first", async (store, time) => {
    const { id } = await store.put("A", DRAFT);
    const first = await store.claim("A", id, USE);
    assert.ok(first);
    time.now += 1000;
    await store.claim("A", id, { ...USE, kind: "UFTP", who: "cn=bob" });
    await store.finish(first, { bytes: 5_000_000_000, complete: true });
    const uses = await store.usesOf("A", id, 10);
    assert.deepEqual(uses, [
      { ...USE, kind: "UFTP", who: "cn=bob", at: time.now, bytes: undefined, complete: undefined },
      { ...USE, at: time.now - 1000, bytes: 5_000_000_000, complete: true },
    ]);
    assert.equal((await store.usesOf("A", id, 1)).length, 1);
    await store.remove("A", id);
    assert.deepEqual(await store.usesOf("A", id, 10), []);
  });

  fact("keeps a used up share readable for 30 days", async (store, time) => {
    const { id } = await store.put("A", { ...DRAFT, oneTime: true });
    await store.claim("A", id, USE);
    time.now += 30 * 86_400_000;
    assert.equal(await store.purge(), 0);
    assert.equal((await store.get("A", id))?.usesLeft, 0);
    time.now += 1000;
    assert.equal(await store.purge(), 1);
    assert.equal(await store.get("A", id), undefined);
  });

  fact("keeps at most as many used up shares of an owner as usable ones, the latest", async (store, time) => {
    const used: string[] = [];
    const useUp = async (draft: Partial<ShareDraft>, most?: number, server = "A") => {
      const { id } = await store.put(server, { ...DRAFT, oneTime: true, ...draft }, most);
      time.now += 1000;
      assert.ok(await store.claim(server, id, USE));
      return id;
    };
    const others = [await useUp({ owner: "cn=carol" }, 2), await useUp({}, 2, "B")];
    const live = await store.put("A", { ...DRAFT, path: "/data/live" }, 9);
    for (let i = 0; i < 6; i++) used.push(await useUp({ path: `/data/${i % 4}` }, 2));
    const there: string[] = [];
    for (const id of used) if (await store.get("A", id) !== undefined) there.push(id);
    assert.deepEqual(there, used.slice(-3), "two that were used up, and the last, which was not yet");
    assert.deepEqual(await store.usesOf("A", used[0] ?? "", 10), []);
    assert.ok(await store.get("A", live.id));
    assert.ok(await store.get("A", others[0] ?? ""));
    assert.ok(await store.get("B", others[1] ?? ""));
    for (let i = 0; i < 5; i++) await useUp({ path: "/data/0" }, 0);
    assert.equal((await allShares(store, "A")).filter(({ owner }) => owner === DRAFT.owner).length, 9);
  });

  fact("changes terms and owners of existing shares", async (store) => {
    const share = await store.put("A", { ...DRAFT, oneTime: true });
    const { id } = share;
    await store.claim("A", id, USE);
    assert.deepEqual(await store.change("A", id, {}), { ...share, accessCount: 1, usesLeft: 0 });
    const changed = await store.change("A", id, {
      path: "/data/e",
      expires: 2_000_000_000,
      sources: ["::1"],
    });
    assert.deepEqual(changed, {
      ...share,
      path: "/data/e",
      expires: 2_000_000_000,
      sources: ["::1"],
      accessCount: 1,
      usesLeft: 0,
    });
    assert.equal((await store.change("A", id, { expires: 0 }))?.expires, 0);
    const told = await store.change("A", id, { note: "new", password: "$hash" });
    assertAlike(told, { ...changed, expires: 0, note: "new", password: "$hash" });
    assertAlike(await store.change("A", id, { sources: ["::1"] }), told);
    assertAlike(await store.change("A", id, { note: "", password: "" }), { ...changed, expires: 0 });
    const amended = {
      ...changed ?? share,
      owner: "cn=bob",
      uid: "bob",
      gid: undefined,
      target: "cn=eve",
      path: "/data/f",
    };
    const given = await store.amend("A", id, amended);
    assertAlike({ ...given, expires: 0 }, { ...amended, expires: 0 });
    assert.equal(await store.change("A", "none", { path: "/x" }), undefined);
    assert.equal(await store.amend("A", "none", amended), undefined);
  });

  fact("keeps only the owner's mail address, as long as the owner wants mail", async (store) => {
    const mail = "ann@example.org";
    const share = await store.put("A", { ...DRAFT, mail });
    assert.equal((await store.change("A", share.id, { note: "x" }))?.mail, mail);
    assert.equal((await store.change("A", share.id, { mail: "" }))?.mail, undefined);
    assert.equal((await store.change("A", share.id, { mail }))?.mail, mail);
    assert.equal((await store.amend("A", share.id, { ...share, path: "/data/other/" }))?.mail, mail);
    assert.equal((await store.amend("A", share.id, { ...share, owner: "cn=bob" }))?.mail, undefined);
    const again = await store.put("A", { ...DRAFT, path: "/data/z/", mail });
    assert.equal((await store.put("A", { ...DRAFT, path: "/data/z/" })).mail, undefined);
    assert.equal((await store.get("A", again.id))?.mail, undefined);
  });

  fact("stores the facts about the owner from the last change of terms or path", async (store) => {
    const { id } = await store.put("A", DRAFT);
    assert.equal((await store.get("A", id))?.made, undefined);
    assertAlike((await store.put("A", { ...DRAFT, made: MADE })).made, MADE);
    const less: CreationRights = { ...MADE, owner: { dn: "CN=Alice" }, limits: {}, mappedRole: true };
    // The fact about the group was for another account, so it says nothing about this one.
    const other = { ...DRAFT, uid: "alice2", made: { ...less, mappedGroup: false } };
    assertAlike((await store.put("A", other)).made, { ...less, mappedGroup: true });
    const moved = await store.change("A", id, { path: "/data/e", made: { ...MADE, mappedGroup: false } });
    assertAlike(moved?.made, { ...MADE, mappedGroup: false });
    assert.ok(moved);
    const retargeted = await store.amend("A", id, { ...moved, target: "cn=eve" });
    assertAlike(retargeted?.made, moved.made);
    // The sources gave the former group, and need not give the one that an operator chooses.
    const grouped = await store.put("A", {
      ...DRAFT,
      target: "group:x",
      made: { ...MADE, mappedGroup: true },
    });
    for (const [gid, mappedGroup] of [[grouped.gid, true], ["proj", false]] as const) {
      const made = (await store.amend("A", grouped.id, { ...grouped, gid }))?.made;
      assertAlike(made, { ...MADE, mappedGroup });
    }
    for (const change of [{ owner: "cn=bob" }, { uid: "bob" }, { path: "/data/f" }]) {
      const one = await store.put("A", { ...DRAFT, target: JSON.stringify(change), made: MADE });
      assert.equal((await store.amend("A", one.id, { ...one, ...change }))?.made, undefined);
    }
  });

  /** Shares of alice, later shares of bob, and whether these would take precedence over hers. */
  const OTHERS: [string, Partial<ShareDraft>, Partial<ShareDraft>, boolean][] = [
    ["the same path for everybody", {}, {}, true],
    ["the same path for the same user", { target: "cn=u" }, { target: "cn=u" }, true],
    ["the same path for one user", {}, { target: "cn=u" }, true],
    ["the same path for everybody, including that user", { target: "cn=u" }, {}, true],
    ["the same path for another user", { target: "cn=u" }, { target: "cn=v" }, false],
    ["the same path for another group", { target: "group:a" }, { target: "group:b" }, true],
    ["the same path for a user who may be in the group", { target: "group:a" }, { target: "cn=u" }, true],
    ["the same path for a group that may contain the user", { target: "cn=u" }, { target: "group:a" }, true],
    ["the same path for a group, so for some of everybody", {}, { target: "group:a" }, true],
    ["a directory beside it for the same group", { target: "group:a" }, {
      path: "/data/d2/",
      target: "group:a",
    }, false],
    ["a directory around it", {}, { path: "/data/" }, true],
    ["the root around it", {}, { path: "/" }, true],
    ["a writable file below it", { access: "WRITE" }, { path: "/data/d/x" }, true],
    ["a file below it that is for reading", {}, { path: "/data/d/x" }, false],
    ["a directory beside it", {}, { path: "/data/d2/" }, false],
    ["a file whose name begins like it", {}, { path: "/data/d.txt" }, false],
    ["the same path, from the home directory", {}, { made: AT_HOME }, false],
  ];

  for (const [what, alices, bobs, refused] of OTHERS) {
    fact(`${refused ? "refuses" : "accepts"} a share of ${what}`, async (store, time) => {
      await store.put("A", { ...DRAFT, ...alices });
      time.now++;
      const draft = { ...DRAFT, owner: "cn=bob", uid: "bob", made: MADE, ...bobs };
      if (refused) await assert.rejects(store.put("A", draft), { code: "ERR_SHARED_BY_ANOTHER" });
      else await store.put("A", draft);
      assert.equal((await store.ownedBy("A", "cn=bob")).length, refused ? 0 : 1);
      // On another server, or once the first share has ended, the path is free.
      await store.put("B", draft);
      await store.removeByPath("A", DRAFT.owner, DRAFT.path, alices.target ?? DRAFT.target);
      await store.put("A", draft);
    });
    fact(`${refused ? "refuses" : "accepts"} a share that is moved to ${what}`, async (store, time) => {
      const draft = { ...DRAFT, owner: "cn=bob", uid: "bob", ...bobs };
      await store.put("A", { ...DRAFT, ...alices });
      time.now++;
      const { id } = await store.put("A", { ...draft, path: "/elsewhere" });
      const change = { path: draft.path, made: draft.made ?? MADE };
      if (refused) await assert.rejects(store.change("A", id, change), { code: "ERR_SHARED_BY_ANOTHER" });
      else await store.change("A", id, change);
      assert.equal((await store.get("A", id))?.path, refused ? "/elsewhere" : draft.path);
    });
  }

  fact("changes the terms of the first share", async (store, time) => {
    await store.put("A", DRAFT);
    time.now++;
    const imported = { ...DRAFT, server: "A", id: "abc", owner: "cn=bob", accessCount: 0, created: time.now };
    await store.addAll([imported]);
    assert.equal((await store.put("A", { ...DRAFT, access: "WRITE" })).access, "WRITE");
    await assert.rejects(store.put("A", { ...DRAFT, owner: "cn=bob", access: "WRITE" }), {
      code: "ERR_SHARED_BY_ANOTHER",
    });
  });

  fact("imports shares with ids in older formats, once", async (store, time) => {
    const share: Share = { ...DRAFT, server: "A", id: "2aXf9Kq01bZ", accessCount: 7, created: time.now };
    const added = async (...shares: readonly Share[]) =>
      (await store.addAll(shares)).map((each) => each.added);
    assert.deepEqual(await added(share), [true]);
    const other = { ...share, path: "/other" };
    const more = { ...other, id: "9268d578-3983-47f3-bdce-d271c8dc02eb" };
    assert.deepEqual(await added(other, more), [false, true]);
    assert.equal((await store.get("A", "2aXf9Kq01bZ"))?.path, DRAFT.path);
  });

  fact(
    "imports a share without id unless its owner has one with this path and target",
    async (store, time) => {
      const share: Share = { ...DRAFT, server: "A", id: "", accessCount: 0, created: time.now };
      const others = [{ server: "B" }, { owner: "cn=bob" }, { target: "cn=dora" }, {
        path: `${DRAFT.path}x`,
      }];
      const found = await store.addAll([share, share, ...others.map((other) => ({ ...share, ...other }))]);
      assert.deepEqual(found.map(({ added }) => added), [true, false, true, true, true, true]);
      assert(found.every(({ id }) => /^\w{22}$/.test(id)));
      assert.deepEqual([found[1]?.id, new Set(found.map(({ id }) => id)).size], [found[0]?.id, 5]);
    },
  );

  for (
    const [what, make] of Object.entries<(store: ShareStore) => Promise<unknown>>({
      "is used up": (store) => store.claim("B", "copied", USE),
      "is removed by its id": (store) => store.remove("B", "copied"),
      "is removed by its path": (store) => store.removeByPath("B", DRAFT.owner, DRAFT.path, DRAFT.target),
    })
  ) {
    fact(`ends a share on all its servers when it ${what} on one`, async (store, time) => {
      const share: Share = {
        ...DRAFT,
        oneTime: true,
        server: "A",
        id: "copied",
        accessCount: 7,
        created: time.now,
      };
      const others = { ...share, id: "another", path: "/other" };
      await store.addAll([share, { ...share, server: "B" }, { ...share, server: "C" }, others]);
      assert(await make(store));
      for (const server of ["A", "B", "C"]) {
        assert.equal(await store.claim(server, "copied", USE), undefined, server);
      }
      assert.equal((await store.get("A", "another"))?.usesLeft, 1);
    });
  }

  fact("applies changes of a share on all its servers: terms, uses, owner", async (store, time) => {
    const share: Share = {
      ...DRAFT,
      usesLeft: 3,
      server: "A",
      id: "copied",
      accessCount: 0,
      created: time.now,
    };
    await store.addAll([share, { ...share, server: "B" }]);
    const claim = await store.claim("B", "copied", USE);
    assert(claim);
    assert.deepEqual([claim.share.server, claim.share.usesLeft], ["B", 2]);
    assert.equal((await store.get("A", "copied"))?.usesLeft, 2);
    await store.release(claim);
    assert.deepEqual([(await store.get("A", "copied"))?.usesLeft, await store.usesOf("A", "copied", 9)], [
      3,
      [],
    ]);
    assert.equal((await store.change("A", "copied", { sources: ["192.0.2.7"] }))?.server, "A");
    await store.put("B", { ...DRAFT, access: "WRITE" });
    await store.amend("B", "copied", { owner: "cn=bob", target: DRAFT.target, uid: "bob", path: DRAFT.path });
    for (const server of ["A", "B"]) {
      const { owner, access, sources } = await store.get(server, "copied") ?? {};
      assert.deepEqual([owner, access, sources], ["cn=bob", "WRITE", []], server);
    }
  });

  fact("does not find shares of another server", async (store, time) => {
    await store.addAll([{
      ...DRAFT,
      usesLeft: 1,
      server: "A",
      id: "there",
      accessCount: 0,
      created: time.now,
    }]);
    assert.equal(await store.claim("B", "there", USE), undefined);
    assert.equal(await store.change("B", "there", { path: "/else" }), undefined);
    assert.equal(await store.remove("B", "there"), false);
    const upload = { ...uploadOf("there", "k", { bytes: 1 }), server: "B" };
    await assert.rejects(store.uploads.begin(upload, "me"), { code: "ERR_QUOTA_USED" });
    const { usesLeft, path, accessCount } = await store.get("A", "there") ?? {};
    assert.deepEqual([usesLeft, path, accessCount], [1, DRAFT.path, 0]);
  });

  fact("removes by path and exact target only", async (store) => {
    await store.put("A", DRAFT);
    await store.put("A", { ...DRAFT, target: "cn=bob" });
    assert.equal(await store.removeByPath("A", DRAFT.owner, "/data/d", DRAFT.target), 0);
    assert.equal(await store.removeByPath("A", DRAFT.owner, DRAFT.path, "cn=bob"), 1);
    assert.equal((await store.ownedBy("A", DRAFT.owner)).length, 1);
  });

  fact("stores any text as text (D16)", async (store) => {
    const hostile = "'; DROP TABLE share; -- %s :id \u{1F600}";
    const { id } = await store.put(hostile, { ...DRAFT, path: `/${hostile}`, owner: hostile });
    assert.equal((await store.get(hostile, id))?.path, `/${hostile}`);
    assert.equal(await store.get(hostile, `${id}' OR '1'='1`), undefined);
    assert.equal(await store.remove(hostile, "' OR ''='"), false);
    assert.equal((await store.ownedBy(hostile, hostile)).length, 1);
  });

  fact("refuses text with NUL instead of truncating it", async (store) => {
    await assert.rejects(store.put("A", { ...DRAFT, path: "/data\0/secret" }), TypeError);
    await assert.rejects(store.get("A", "x\0"), TypeError);
    assert.deepEqual(await allShares(store), []);
  });
}
