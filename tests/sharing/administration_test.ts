import assert from "node:assert/strict";
import { formatDiagnostic, InvalidFile } from "../../src/model/diagnostic.ts";
import { AdministrationError, ShareAdministration } from "../../src/sharing/administration.ts";
import { dumpEntry } from "../../src/sharing/import/share_dump.ts";
import type { Share } from "../../src/sharing/share.ts";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import { DRAFT, USE } from "./store/conformance.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const NOW = 1_700_000_000_000;
const SERVERS = ["A", "B"];

/** Returns all shares of a list. */
async function listed(administration: ShareAdministration, ...list: Parameters<ShareAdministration["list"]>) {
  const found: Share[] = [];
  for await (const { shares } of administration.list(...list)) found.push(...shares);
  return found;
}

async function withStore(check: (administration: ShareAdministration) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const store = openShareStore(`${folder}/shares.sqlite`, () => NOW);
  try {
    await check(new ShareAdministration(store, () => NOW));
  } finally {
    store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("ShareAdministration lists, shows, reassigns and removes shares", () =>
  withStore(async (administration) => {
    const { store } = administration;
    const { id } = await store.put("A", DRAFT);
    await store.put("B", { ...DRAFT, owner: "cn=bob" });
    await store.claim("A", id, USE);
    assert.equal((await listed(administration)).length, 2);
    assert.equal((await listed(administration, { server: "B" })).length, 1);
    assert.deepEqual(
      (await listed(administration, { owner: "CN=Alice, O=Example" })).map((share) => share.id),
      [
        id,
      ],
    );
    assert.equal((await administration.show(id)).uses.length, 1);
    const given = await administration.chown(id, { owner: "CN=Bob", uid: "bob", gid: "staff" });
    assert.deepEqual([given.owner, given.uid, given.gid], ["cn=bob", "bob", "staff"]);
    const several = await administration.chown(id, { owner: "CN=Bob", uid: "bob", gid: "staff:users" });
    assert.equal(several.gid, "staff:users");
    for (const gid of ["staff:", "staff:root"]) {
      await assert.rejects(
        administration.chown(id, { owner: "CN=Bob", uid: "bob", gid }),
        AdministrationError,
      );
    }
    await assert.rejects(administration.chown(id, { owner: "CN=Bob", uid: "root" }), AdministrationError);
    await assert.rejects(administration.chown(id, { owner: "CN=Bob", uid: "a b" }), AdministrationError);
    await administration.remove(id);
    await assert.rejects(administration.remove(id), AdministrationError);
    await assert.rejects(administration.show(id), /There is no share/);
  }));

Deno.test("ShareAdministration shows the latest 1,000 uses of a share", () =>
  withStore(async (administration) => {
    const { store } = administration;
    const { id } = await store.put("A", DRAFT);
    const asked: number[] = [];
    const watching = new Proxy(store, {
      get: (target, name) =>
        name === "usesOf"
          ? (server: string, share: string, most: number) => {
            asked.push(most);
            return target.usesOf(server, share, most);
          }
          : Reflect.get(target, name).bind(target),
    });
    await new ShareAdministration(watching, () => NOW).show(id);
    assert.deepEqual(asked, [1000]);
  }));

const CSV = `ID,path,isDirectory,ownerID,uid,gid,targetID,access,oneTime,expires,accessCount
2aXf9Kq01bZ,/data/d,true,"CN=Alice, O=Example",alice,hpc,"CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN",WRITE,false,0,7
3bYg0Lr12cA,/data/f,false,"CN=Alice, O=Example",alice,,"CN=Bob",READ,true,1800000000,0
4cZh1Ms23dB,/data/g,false,"CN=Alice, O=Example",alice,,"CN=Bob",READ,true,1600000000,0
`;

Deno.test("ShareAdministration imports a CSV dump, without expired shares", () =>
  withStore(async (administration) => {
    const result = await administration.import(CSV, { file: "dump.csv", server: "A", servers: SERVERS });
    assert.deepEqual(result, { added: 2, present: [], ended: 1, refused: 0, diagnostics: [] });
    const [first, second] = await listed(administration);
    assertAlike(first, {
      server: "A",
      id: "2aXf9Kq01bZ",
      path: "/data/d/",
      owner: "cn=alice,o=example",
      target: "cn=anonymous,o=unknown,ou=unknown",
      uid: "alice",
      gid: "hpc",
      access: "WRITE",
      oneTime: false,
      usesLeft: undefined,
      expires: 0,
      accessCount: 7,
      sources: [],
      created: NOW,
    });
    assert.deepEqual([second?.usesLeft, second?.expires, second?.gid], [1, 1800000000, undefined]);
    const again = await administration.import(CSV, { file: "dump.csv", server: "A", servers: SERVERS });
    assert.deepEqual(again, { ...result, added: 0, present: ["2aXf9Kq01bZ", "3bYg0Lr12cA"] });
  }));

Deno.test("ShareAdministration imports a JSON dump", () =>
  withStore(async (administration) => {
    const entry = {
      server: "B",
      path: "/x",
      ownerID: "CN=a",
      targetID: "CN=b",
      uid: "a",
      gid: null,
      expires: 0,
    };
    const result = await administration.import(JSON.stringify([entry]), {
      file: "dump.json",
      servers: SERVERS,
    });
    assert.equal(result.added, 1);
    const [share] = await listed(administration);
    assert.deepEqual([share?.server, share?.access, share?.id.length], ["B", "READ", 22]);
  }));

Deno.test("ShareAdministration imports the valid shares of a Java service's dump, once for all servers", () =>
  withStore(async (administration) => {
    const fixture = new URL("../fixtures/java_shares/h2_2.4.csv", import.meta.url);
    const text = await Deno.readTextFile(fixture);
    const source = { file: "dump.csv", servers: SERVERS };
    await assert.rejects(administration.import(text, source), InvalidFile);
    assert.deepEqual(await listed(administration), []);
    const { added, present, ended, refused, diagnostics } = await administration.import(text, {
      ...source,
      partial: true,
    });
    assert.deepEqual([added, present, ended, refused, diagnostics.length], [4, [], 1, 2, 3]);
    const [first, ...others] = await listed(administration);
    assert(first);
    assert.equal(others.filter(({ id, server }) => id === first.id && server === "B").length, 1);
    const again = await administration.import(text, { ...source, partial: true });
    assert.deepEqual([again.added, again.present.length], [0, 4]);
    await administration.remove(first.id, "B");
    assert.equal((await listed(administration)).some(({ id }) => id === first.id), false);
  }));

Deno.test("ShareAdministration finds no share on a server whose name the database cannot store", () =>
  withStore(async (administration) => {
    const { id } = await administration.store.put("A", DRAFT);
    for (const server of ["A\0", "", "B"]) {
      await assert.rejects(administration.modify(server, id, {}), AdministrationError, server);
    }
    assert.equal((await administration.modify("A", id, {})).id, id);
  }));

Deno.test("ShareAdministration finds a share by its id, and requires the server if two servers have the id", () =>
  withStore(async (administration) => {
    const share = await administration.store.put("A", DRAFT);
    assert.equal((await administration.show(share.id)).share.server, "A");
    assert.equal((await administration.store.addAll([{ ...share, server: "B" }])).length, 1);
    await assert.rejects(
      administration.show(share.id),
      (error) =>
        error instanceof AdministrationError && /is on several servers, name one$/.test(error.message),
    );
    for (const server of SERVERS) {
      assert.equal((await administration.show(share.id, server)).share.server, server);
    }
  }));

Deno.test("dumpEntry() contains all of a share except its uses, and an import reads it back", () =>
  withStore(async (administration) => {
    const { store } = administration;
    const made = {
      owner: { dn: "CN=Ann , O=X", via: "PASSWORD", login: "ann", uid: "ann", name: "Ann Ü." },
      mappedGroup: true,
      mappedRole: true,
      atHome: true,
      limits: { includes: "/d:/e ", excludes: "*.key" },
    };
    await store.put("A", { ...DRAFT, path: "/d/", usesLeft: 3, sources: ["192.0.2.0/24", "2001:db8::1"] });
    await store.put("B", { ...DRAFT, path: "/f", gid: "hpc", oneTime: true, expires: NOW / 1000 + 60, made });
    await store.put("B", {
      ...DRAFT,
      path: "/l",
      made: { owner: { dn: DRAFT.owner }, mappedGroup: false, mappedRole: false, atHome: false, limits: {} },
      note: "results",
      password: `$scrypt$ln=14,r=8,p=1$${"a".repeat(22)}$${"a".repeat(43)}`,
      target: "cn=bob",
      targetName: "CN=Bob",
    });
    const drop = { ...DRAFT, access: "DROP", path: "/in/", mail: "ann@example.org" } as const;
    const { id: share } = await store.put("B", { ...drop, quota: { files: 3 } });
    const part = { server: "B", share, key: "k", uid: "ann", part: "/p", name: "k", finished: false };
    await store.uploads.begin({ ...part, files: 1, bytes: 10 }, "a request");
    const { id } = await store.put("B", { ...DRAFT, path: "/used", oneTime: true });
    await store.claim("B", id, USE);
    const before = await listed(administration);
    const dump = JSON.stringify(before.map(dumpEntry));
    for (const share of before) await administration.remove(share.id);
    const later = new ShareAdministration(store, () => NOW + 5000);
    await later.import(dump, { file: "dump", servers: SERVERS });
    assert.deepEqual(await listed(administration), before);
    const parts = before.map(({ made, received }) => made?.owner.dn ?? received?.bytes ?? 0);
    assert.deepEqual(parts.toSorted(), [0, 0, 10, "CN=Ann , O=X", DRAFT.owner]);
  }));

Deno.test("ShareAdministration refuses nested objects and lists of any depth", () =>
  withStore(async (administration) => {
    for (
      const [begin, end, place] of [['{"a":', "}", /^dump: \[0\]\.sources(?:\.a)+: unknown/], [
        "[",
        "]",
        /(?:\.0)+: unknown/,
      ]] as const
    ) {
      const deep = `${begin.repeat(20_000)}1${end.repeat(20_000)}`;
      const dump =
        `[{"server":"B","path":"/x","ownerID":"CN=a","targetID":"CN=b","uid":"a","sources":${deep}}]`;
      const options = { file: "dump", servers: SERVERS, partial: true };
      const { added, diagnostics } = await administration.import(dump, options);
      assert.equal(added, 0);
      assert.match(diagnostics.map(formatDiagnostic).join("\n"), place);
    }
  }));

Deno.test("ShareAdministration refuses invalid members that only our own dumps have", () =>
  withStore(async (administration) => {
    const entry = { server: "B", path: "/x", ownerID: "CN=a", targetID: "CN=b", uid: "a" };
    for (
      const [more, ...places] of [
        [{ made: { owner: { dn: "" }, mappedRole: true } }, "made.owner.dn: missing"],
        [{ made: { owner: { dn: "ann" } } }, "made.owner.dn: Invalid distinguished name"],
        [{ made: { owner: { dn: "CN=a", uid: { a: 1 } } } }, "made.owner.uid.a: unknown"],
        [{ made: { owner: { dn: "CN=a" }, mappedRole: "perhaps" } }, "made.mappedRole: "],
        [{ made: { owner: { dn: "CN=a" }, role: "user" } }, "made.role: unknown"],
        [{ made: { owner: { dn: "CN=a", name: "a\nb" } } }, "made.owner.name: "],
        [{ note: "a\u0000" }, "note: "],
        [{ mail: "a@example.org\nBcc: b@example.org" }, "mail: "],
        [{ targetName: "CN=c" }, "targetName: "],
        [{ createdAt: "soon" }, "createdAt: "],
        [{ received: { files: -1 } }, "received.files: "],
        [{ path: { made: "/x" } }, "path.made: unknown", "path: missing"],
      ] as const
    ) {
      const dump = JSON.stringify([{ ...entry, ...more }]);
      const { added, diagnostics } = await administration.import(dump, {
        file: "dump",
        servers: SERVERS,
        partial: true,
      });
      const found = diagnostics.map(formatDiagnostic);
      assert.deepEqual([added, found.length], [0, places.length], found.join("\n"));
      for (const place of places) {
        assert(found.some((text) => text.startsWith(`dump: [0].${place}`)), found.join("\n"));
      }
    }
  }));

const BAD: [string, string, RegExp[]][] = [
  ["an empty file", "", [/^dump: expected a header line/]],
  ["invalid JSON", "[{", [/^dump: not valid JSON/]],
  ["JSON without objects", "[1]", [/entry 1: expected an object/]],
  ["an unclosed quote", 'path\n"a', [/^dump:2: expected a closing quote/]],
  ["a row with too few fields", "path,uid\n/x\n", [/^dump:2: expected 2 fields, found 1/]],
  [
    "every kind of error, with its place",
    "server,id,path,ownerID,uid,targetID,access,oneTime,expires,usesLeft,sources\n" +
    ",a-b,x,nobody,root,CN=b,ALL,maybe,soon,-1,here\n" +
    "C,,/x,CN=a,,CN=b,,,,,\n",
    [
      /^dump:2: server: missing/m,
      /^dump:2: id: /m,
      /^dump:2: path: Invalid path/m,
      /^dump:2: ownerID: /m,
      /^dump:2: uid: expected the name of an unprivileged/m,
      /^dump:2: access: /m,
      /^dump:2: oneTime: /m,
      /^dump:2: expires: /m,
      /^dump:2: usesLeft: /m,
      /^dump:2: sources: /m,
      /^dump:3: server: expected a server with sharing: A, B/m,
      /^dump:3: uid: missing/m,
    ],
  ],
  ["a place in JSON", '[{"server":"A","path":"/x","ownerID":"CN=a","uid":"a"}]', [
    /^dump: \[0\]\.targetID: missing/,
  ]],
];

for (const [what, text, messages] of BAD) {
  Deno.test(`ShareAdministration imports nothing of a dump with ${what}`, () =>
    withStore(async (administration) => {
      await assert.rejects(administration.import(text, { file: "dump", servers: SERVERS }), (error) => {
        assert.ok(error instanceof InvalidFile, String(error));
        for (const message of messages) assert.match(error.message, message);
        return true;
      });
      assert.deepEqual(await listed(administration), []);
    }));
}

Deno.test("ShareAdministration lists in pages, from any share on, and returns where the next begins", () =>
  withStore(async (administration) => {
    const { store } = administration;
    for (let i = 0; i < 7; i++) await store.put(i % 2 === 0 ? "A" : "B", { ...DRAFT, path: `/${i}` });
    for (const list of [{}, { server: "A" }, { owner: DRAFT.owner }, { server: "B", owner: DRAFT.owner }]) {
      const all = (await listed(administration, list)).map(({ id }) => id);
      assert.equal(all.length, list.server === undefined ? 7 : list.server === "A" ? 4 : 3);
      const found: string[] = [];
      let after: Pick<Share, "server" | "id"> | undefined;
      do {
        let next: typeof after;
        for await (const page of administration.list(list, { after, most: 2 })) {
          assert.ok(page.shares.length <= 2);
          found.push(...page.shares.map(({ id }) => id));
          next = page.next;
        }
        after = next;
      } while (after !== undefined);
      assert.deepEqual(found, all);
    }
    await assert.rejects(
      listed(administration, { owner: DRAFT.owner }, { after: { server: "A", id: "gone" } }),
      /There is no share gone on A any more/,
    );
  }));

Deno.test("ShareAdministration finds a share by its key, and reads no others", () =>
  withStore(async ({ store }) => {
    const { id } = await store.put("A", DRAFT);
    const unlisted = new Proxy(store, {
      get(target, name) {
        if (name === "page") throw new Error("lists shares to find one");
        return Reflect.get(target, name).bind(target);
      },
    });
    const administration = new ShareAdministration(unlisted, () => NOW);
    for (const server of [undefined, "A"]) assert.equal((await administration.show(id, server)).share.id, id);
    await assert.rejects(administration.show(id, "B"), /There is no share/);
    assert.equal((await administration.remove(id)).id, id);
  }));
