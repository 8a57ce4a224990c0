import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { openShareStore, type ShareStore } from "../../../src/sharing/store/share_store.ts";
import type { Quota } from "../../../src/sharing/share.ts";
import { DRAFT, USE } from "../../sharing/store/conformance.ts";
import { recordedIo } from "../recorded_io.ts";
import { allShares } from "../../sharing/store/all_shares.ts";

const CONFIGURATION = `
container.security.sslEnabled=false
container.security.gateway.enable=false
authservice.servers=A B
authservice.server.A.host=127.0.0.1
authservice.server.A.port=64434
authservice.server.A.commandHost=127.0.0.1
authservice.server.A.commandPort=64435
authservice.server.A.ssl=false
authservice.server.B.host=127.0.0.1
authservice.server.B.port=64436
authservice.server.B.commandHost=127.0.0.1
authservice.server.B.commandPort=64437
authservice.server.B.ssl=false
`;

/** Configuration with sharing, and its database, open as in a running service. */
class Place implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync();
  readonly main = `${this.folder}/container.properties`;
  #store: ShareStore | undefined;

  constructor(sharing = "share.servers=A B\npersistence.directory={folder}/data\n") {
    Deno.mkdirSync(`${this.folder}/data`);
    Deno.writeTextFileSync(this.main, CONFIGURATION + sharing.replaceAll("{folder}", this.folder));
  }

  get store(): ShareStore {
    return this.#store ??= openShareStore(`${this.folder}/data/shares.sqlite`, Date.now);
  }

  file(name: string, text: string): string {
    Deno.writeTextFileSync(`${this.folder}/${name}`, text);
    return `${this.folder}/${name}`;
  }

  async run(...args: readonly string[]) {
    const io = recordedIo();
    const [command = "", ...rest] = args;
    const status = await runCommand(["share", command, "--config", this.main, ...rest], io);
    return { status, out: io.out, err: io.err };
  }

  async [Symbol.asyncDispose]() {
    this.#store?.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("share list prints shares as a table and as JSON that import reads", async () => {
  await using place = new Place();
  const { id } = await place.store.put("A", { ...DRAFT, sources: ["192.0.2.0/24"] });
  await place.store.put("B", { ...DRAFT, owner: "cn=bob", oneTime: true });
  const table = await place.run("list");
  assert.equal(table.status, 0);
  assert.match(table.out, /^SERVER +ID .*\nA +.*\nB +.* one-time .*cn=bob/);
  assert.equal((await place.run("list", "--server", "A")).out.split("\n").length, 3);
  assert.equal((await place.run("list", "--owner", "CN=Bob")).out.split("\n").length, 3);

  const dump = place.file("dump.json", (await place.run("list", "--json")).out);
  await place.store.remove("A", id);
  const imported = await place.run("import", dump);
  assert.deepEqual([imported.status, imported.out], [0, "1 share imported, 1 there already\n"]);
  assert.match(imported.err, /^warning: share \w+ exists already and stays unchanged\n$/);
  assert.deepEqual((await place.store.get("A", id))?.sources, ["192.0.2.0/24"]);
});

Deno.test("share list prints a part of the list, and where the next part begins", async () => {
  await using place = new Place();
  for (const server of ["A", "B"]) {
    for (let i = 0; i < 3; i++) await place.store.put(server, { ...DRAFT, path: `/data/${i}` });
  }
  const walk = async (...of: string[]) => {
    const ids: string[] = [];
    let after: string[] = [];
    do {
      const { status, out, err } = await place.run("list", "--json", "--limit", "2", ...of, ...after);
      assert.equal(status, 0, err);
      const part: { server: string; id: string }[] = JSON.parse(out);
      assert.ok(part.length <= 2);
      ids.push(...part.map(({ server, id }) => `${server}/${id}`));
      after = /^There may be more: (--after) (\S+)\n$/.exec(err)?.slice(1) ?? [];
    } while (after.length > 0);
    return ids;
  };
  const all = await walk();
  assert.equal(new Set(all).size, 6);
  assert.deepEqual(all, all.toSorted());
  assert.equal((await walk("--server", "B")).length, 3);
  const ofOwner = await walk("--owner", DRAFT.owner);
  assert.deepEqual(ofOwner.toSorted(), all);
  const [first = ""] = all;
  assert.match((await place.run("list", "--after", first)).out, /^SERVER(?:.*\n){6}$/);
  const ofJava = "A/00cb97d8-cf7e-49b1-a673-8fc059f96ade";
  assert.equal(
    (await place.run("list", "--after", ofJava)).status,
    0,
    "an id of the Java service before 2024",
  );
  await place.store.remove("A", first.slice(2));
  assert.match(
    (await place.run("list", "--after", first)).out,
    /^SERVER(?:.*\n){6}$/,
    "it need not be there any more",
  );
  assert.equal((await place.run("list", "--json", "--server", "A", "--owner", "cn=nobody")).out, "[]\n");
});

Deno.test("share list prints the remaining uses of shares", async () => {
  await using place = new Place();
  const drafts = [{}, { usesLeft: 3 }, { oneTime: true, usesLeft: 1 }, { usesLeft: 0 }];
  for (const [i, draft] of drafts.entries()) {
    await place.store.put("A", { ...DRAFT, ...draft, path: `/data/${i}` });
  }
  const { out } = await place.run("list");
  const [head = "", ...lines] = out.trimEnd().split("\n");
  const [from, to] = [head.indexOf("LEFT"), head.indexOf("ENDS IN")];
  assert.deepEqual(lines.map((line) => line.slice(from, to).trim()).sort(), ["", "3", "one-time", "used up"]);
});

Deno.test("share show prints who used a share", async () => {
  await using place = new Place();
  const { id } = await place.store.put("A", { ...DRAFT, gid: "hpc", usesLeft: 3, expires: 4_000_000_000 });
  const claim = await place.store.claim("A", id, USE);
  assert.ok(claim);
  await place.store.finish(claim, { bytes: 12, complete: false });
  const { status, out } = await place.run("show", id);
  assert.equal(status, 0);
  assert.match(out, /^Id +\w{22}$/m);
  assert.match(out, /^Account +\w+:hpc$/m);
  assert.match(out, /^Ends +2096-10-02T07:06:40Z$/m);
  assert.match(out, /^Uses +1, 2 left$/m);
  assert.match(
    out,
    new RegExp(`^\\S+Z ${USE.kind} ${USE.who} from ${USE.address} .* 12 bytes, interrupted$`, "m"),
  );
  const json: unknown = JSON.parse((await place.run("show", "--json", id)).out);
  assert.ok(typeof json === "object" && json !== null && "uses" in json && Array.isArray(json.uses));
  assert.equal(json.uses.length, 1);
});

Deno.test("share show prints uploaded bytes and their limit for shares that accept files", async () => {
  await using place = new Place();
  const uploaded = async (draft: Partial<typeof DRAFT> & { readonly quota?: Quota }) => {
    const { id } = await place.store.put("A", { ...DRAFT, ...draft });
    await place.store.uploads.begin({
      server: "A",
      share: id,
      key: "k",
      uid: "ann",
      part: "/k.part",
      name: "k",
      files: 1,
      bytes: 10,
      finished: false,
    }, "a request");
    return /^Uploaded +(.*)$/m.exec((await place.run("show", id)).out)?.[1];
  };
  assert.equal(await uploaded({ path: "/r/" }), "not possible");
  assert.equal(await uploaded({ path: "/w/", access: "WRITE" }), "see the uses");
  assert.equal(await uploaded({ path: "/d/", access: "DROP" }), "1 file, 10 bytes");
  const quota = { files: 3, bytes: 100 };
  assert.equal(
    await uploaded({ path: "/q/", access: "DROP", quota }),
    "1 file of at most 3, 10 bytes of at most 100",
  );
});

Deno.test("share remove and chown change the shares of a running service", async () => {
  await using place = new Place();
  const { id } = await place.store.put("A", DRAFT);
  const given = await place.run("chown", id, "--owner", "CN=Bob, O=X", "--uid", "bob", "--gid", "staff");
  assert.deepEqual([given.status, given.out], [0, `Share ${id} belongs to cn=bob,o=x, account bob\n`]);
  const share = await place.store.get("A", id);
  assert.deepEqual([share?.owner, share?.uid, share?.gid], ["cn=bob,o=x", "bob", "staff"]);
  const removed = await place.run("remove", id);
  assert.deepEqual([removed.status, removed.out], [0, `Share ${id} of ${DRAFT.path} deleted from A\n`]);
  assert.equal(await place.store.get("A", id), undefined);
});

Deno.test("share import creates the database, and uses --server for entries without a server", async () => {
  await using place = new Place();
  const csv = place.file("dump.csv", "path,ownerID,uid,targetID\n/d,CN=a,a,CN=b\n/e,CN=a,a,CN=b\n");
  const imported = await place.run("import", "--server", "B", csv);
  assert.deepEqual(imported, { status: 0, out: "2 shares imported\n", err: "" });
  assert.equal((await allShares(place.store, "B")).length, 2);
});

Deno.test("share import adds entries without ids once, however often it runs, and names existing ones", async () => {
  await using place = new Place();
  const rows = (...lines: readonly string[]) =>
    place.file("dump.csv", `id,path,ownerID,uid,targetID,oneTime\n${lines.map((l) => `${l}\n`).join("")}`);
  const [one, two] = [",/d,CN=a,a,CN=b,true", "X1,/e,CN=a,a,CN=b,"];
  const run = (...lines: readonly string[]) =>
    place.run("import", "--server", "B", "--partial", rows(...lines));
  const first = await run(one, two, ",/f,nobody,a,CN=b,");
  assert.match(first.out, /^2 shares imported, 1 not imported:\n {2}.*dump\.csv:4: ownerID: /);
  const all = await allShares(place.store, "B");
  const { id = "" } = all.find(({ path }) => path === "/d") ?? {};
  const again = await run(one, two, ",/f,CN=a,a,CN=b,");
  assert.equal(again.out, "1 share imported, 2 there already\n");
  const warnings = [id, "X1"].map((each) => `warning: share ${each} exists already and stays unchanged\n`);
  assert.equal(again.err, warnings.join(""));
  await place.store.claim("B", id, USE);
  assert.equal(
    (await run(one)).out,
    "0 shares imported, 1 there already\n",
    "a share used up is not given anew",
  );
  const others = [",/d/,CN=a,a,CN=b,", ",/d,CN=c,a,CN=b,", ",/d,CN=a,a,CN=d,"];
  assert.equal((await run(...others)).out, "3 shares imported\n");
});

Deno.test("share import refuses a second entry without an id for the same owner, path and recipient", async () => {
  await using place = new Place();
  const csv = "server,path,ownerID,uid,targetID,access,expires\n" +
    [
      "A,/d,CN=a,a,CN=b,READ,",
      "A,/d,cn=a,a,CN=B,WRITE,",
      "B,/d,CN=a,a,CN=b,,",
      "A,/e,CN=a,a,CN=b,,1",
      "A,/e,CN=a,a,CN=b,,",
    ]
      .map((line) => `${line}\n`).join("");
  const dump = place.file("dump.csv", csv);
  const refused = await place.run("import", dump);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /^.*dump\.csv:3: path, ownerID and targetID: used in line 2 already\n$/);
  assert.deepEqual(await allShares(place.store), []);
  assert.match(
    (await place.run("import", "--partial", dump)).out,
    /^3 shares imported, 1 expired, 1 not imported:\n/,
  );
});

Deno.test("share works while the service writes", async () => {
  await using place = new Place();
  const { id } = await place.store.put("A", DRAFT);
  let writes = 0;
  const writer = (async () => {
    for (; writes < 200; writes++) await place.store.claim("A", id, USE);
  })();
  const lists = await Promise.all(Array.from({ length: 5 }, () => place.run("list")));
  await writer;
  assert.deepEqual(lists.map(({ status }) => status), [0, 0, 0, 0, 0]);
  assert.equal((await place.store.get("A", id))?.accessCount, writes);
});

const BAD: [what: string, args: string[], status: number, message: RegExp][] = [
  ["no command", [], 2, /Expected a command|Unknown command/],
  ["an unknown command", ["rename", "x"], 2, /Unknown command "rename"/],
  ["no id", ["show"], 2, /Expected <id>/],
  ["an unknown id", ["show", "nope"], 1, /There is no share nope/],
  ["an unknown id to remove", ["remove", "nope"], 1, /There is no share nope/],
  ["an id on another server", ["show", "--server", "B", "ID"], 1, /There is no share/],
  ["a server without sharing", ["list", "--server", "C"], 1, /No sharing on "C", only on A, B/],
  ["an invalid owner name", ["list", "--owner", "bob"], 1, /[Nn]ame/],
  [
    "a new owner without an account",
    ["chown", "ID", "--owner", "CN=b"],
    2,
    /Expected --owner DN and --uid NAME/,
  ],
  ["an invalid new owner name", ["chown", "ID", "--owner", "b", "--uid", "b"], 1, /[Nn]ame/],
  ["the account root", ["chown", "ID", "--owner", "CN=b", "--uid", "root"], 1, /unprivileged account/],
  ["an invalid account", ["chown", "ID", "--owner", "CN=b", "--uid", "b\nx"], 1, /unprivileged account/],
  ["a missing dump", ["import", "/nowhere/dump.csv"], 1, /There is no file/],
  [
    "a dump of an unknown server",
    ["import", "DUMP"],
    1,
    /dump\.csv:2: server: expected a server with sharing: A, B/,
  ],
  ["an unknown option", ["list", "--all"], 2, /--all/],
  ["a limit of 0", ["list", "--limit", "0"], 2, /Expected a number from 1 with --limit/],
  ["an invalid position", ["list", "--after", "ID"], 2, /Expected SERVER\/ID with --after/],
];

for (const [what, args, status, message] of BAD) {
  Deno.test(`share refuses ${what} and changes nothing`, async () => {
    await using place = new Place();
    const { id } = await place.store.put("A", DRAFT);
    const dump = place.file("dump.csv", "server,path,ownerID,uid,targetID\nC,/d,CN=a,a,CN=b\n");
    const before = await allShares(place.store);
    const result = await place.run(...args.map((arg) => arg === "ID" ? id : arg === "DUMP" ? dump : arg));
    assert.equal(result.status, status, result.err);
    assert.match(result.err, message);
    assert.equal(result.out, "");
    assert.deepEqual(await allShares(place.store), before);
  });
}

Deno.test("share reports what is missing", async () => {
  await using none = new Place("");
  assert.match(
    (await none.run("list")).err,
    /has no sharing: expected share\.servers and persistence\.directory/,
  );
  await using unused = new Place();
  const { status, err } = await unused.run("list");
  assert.deepEqual([status, /There is no share database yet/.test(err)], [1, true], err);
  unused.file(
    "data/shares.sqlite",
    "something else, long enough to be looked at by SQLite, as no header is this",
  );
  assert.match((await unused.run("list")).err, /shares\.sqlite: file is not a database/);
  unused.file("container.properties", "authservice.servers=A\n");
  assert.match(
    (await unused.run("list")).err,
    /The configuration in .* cannot be used\n.*authservice\.server\.A/s,
  );
});

Deno.test({
  name: "share refuses to run under an account other than the service's",
  ignore: Deno.uid() !== 0, // only root can change the owner of the file
  async fn() {
    await using place = new Place();
    await allShares(place.store);
    await Deno.chown(`${place.folder}/data/shares.sqlite`, 41_234, null);
    const { status, err } = await place.run("list");
    assert.equal(status, 1);
    assert.match(
      err,
      /as the account that the service runs as, with user id 41234: sudo -u '#41234' authserver/,
    );
  },
});

Deno.test("share list aligns its columns", async () => {
  await using place = new Place("share.servers=A B\npersistence.directory={folder}/data\n");
  await place.store.put("A", { ...DRAFT, oneTime: true, expires: Math.floor(Date.now() / 1000) + 600 });
  await place.store.put("B", DRAFT);
  const [head = "", ...lines] = (await place.run("list")).out.trimEnd().split("\n");
  for (const line of lines) assert.equal(line.slice(head.indexOf("PATH")), DRAFT.path);
  assert.match(lines[0] ?? "", /one-time +\d+ s/);
});

Deno.test("share list, show and remove escape control and bidirectional characters of users", async () => {
  await using place = new Place();
  const path = "/home/ann/\u009b2J\u202egpj.exe\nA  x\u200b/";
  const shown = "/home/ann/\\u009b2J\\u202egpj.exe\\u000aA  x\\u200b/";
  const { id } = await place.store.put("A", {
    ...DRAFT,
    path,
    owner: "cn=ann\u2066\u00ad",
    target: "cn=\u{e0041}",
  });
  await place.store.claim("A", id, { ...USE, who: "cn=\u0085bob", path: "/x\u2028y" });
  for (
    const command of [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["remove", id]]
  ) {
    const { out, err } = await place.run(...command);
    assert.doesNotMatch(out + err, /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{DI}]/u);
    if (command.includes("--json")) assert(JSON.stringify(JSON.parse(out)).includes(JSON.stringify(path)));
    else assert(out.includes(shown), out);
  }
});

Deno.test("share list ends after --limit, prints how to continue, and begins --after a share", async () => {
  await using place = new Place();
  for (let i = 0; i < 5; i++) await place.store.put("A", { ...DRAFT, path: `/${i}` });
  const all: { id: string }[] = JSON.parse((await place.run("list", "--json")).out);
  const first = await place.run("list", "--json", "--limit", "2");
  assert.deepEqual(JSON.parse(first.out), all.slice(0, 2));
  assert.equal(first.err, `There may be more: --after A/${all[1]?.id}\n`);
  const rest = await place.run("list", "--json", "--after", `A/${all[1]?.id}`);
  assert.deepEqual([JSON.parse(rest.out), rest.err], [all.slice(2), ""]);
});
