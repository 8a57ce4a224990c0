import assert from "node:assert/strict";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import { dumpEntry, readShareDump } from "../../../src/sharing/import/share_dump.ts";
import { EVERYBODY } from "../../../src/sharing/share.ts";

const OPTIONS = { file: "shares.csv", server: "HPC", servers: ["HPC"], now: 0 };

/** Returns the shares of a dump without errors. */
function parseShareDump(text: string, options: Parameters<typeof readShareDump>[1]) {
  const { shares, diagnostics } = readShareDump(text, options);
  if (diagnostics.length > 0) throw new InvalidFile(diagnostics);
  return shares;
}

const FIXTURES = new URL("../../fixtures/java_shares/", import.meta.url);
const BEN = canonicalDn("CN=Ben Müller,O=Site \\, Example,C=DE");
const ANN = "uid=ann@example.org";

for await (const { name } of Deno.readDir(FIXTURES)) {
  if (!/\.(?:csv|sql)$/.test(name)) continue;
  Deno.test(`readShareDump() reads ${name} as the Java service's storage wrote it`, async () => {
    const text = await Deno.readTextFile(new URL(name, FIXTURES));
    const options = { file: name, servers: ["TEST", "GRP"], now: Date.UTC(2026, 0) };
    const { shares, ended, refused, diagnostics } = readShareDump(text, options);
    // In 2021, shares had no end and no number of uses.
    const isOld = name.startsWith("h2_1.4");
    assert.deepEqual([shares.length, ended, refused], [isOld ? 10 : 8, isOld ? 0 : 1, 2]);
    assert.deepEqual(diagnostics.map(({ key, expected }) => [key, expected]), [
      ["path", "Invalid path: it contains control characters"],
      ["uid", "expected the name of an unprivileged account or group"],
      ["gid", "expected the name of an unprivileged account or group"],
    ]);
    for (const server of ["TEST", "GRP"]) {
      const [plain, folder, special, far] = shares.filter((share) => share.server === server);
      const facts = [plain, folder, special, far].map((share) =>
        share && [share.path, share.owner, share.target, share.uid, share.gid, share.access]
      );
      assert.deepEqual(facts, [
        ["/data/results/plain.txt", ANN, BEN, "ann", "users", "READ"],
        ["/data/results/folder/", ANN, "cn=cy,o=example", "ann", undefined, "WRITE"],
        [`/data/Größe "a", b's; c\\d.txt`, BEN, EVERYBODY, "ben", "users", "READ"],
        ["/data/数据/🗄/", "cn=cy,o=example", BEN, "cy", "hpc", "MODIFY"],
      ]);
      assert.deepEqual(
        [plain?.accessCount, folder?.expires, special?.oneTime],
        isOld ? [0, 0, false] : [3, 4102444800, true],
      );
      assert(text.includes(plain?.id ?? "no id"));
    }
    const named = readShareDump(text, { ...options, server: "GRP" }).shares;
    assert.deepEqual(
      named.map(({ server, id }) => [server, id]),
      shares.filter(({ server }) => server === "GRP").map(({ server, id }) => [server, id]),
    );
  });
}

Deno.test("parseShareDump() reads shares for groups, and explains invalid targets", () => {
  const [share] = parseShareDump("path,ownerID,uid,targetID\n/d,CN=Ann,ann,group:hpc\n", OPTIONS);
  assert.equal(share?.target, "group:hpc");
  assert.deepEqual(
    parseShareDump(JSON.stringify(share && [dumpEntry(share)]), OPTIONS).map(({ target }) => target),
    ["group:hpc"],
  );
  assert.throws(
    () => parseShareDump("path,ownerID,uid,targetID\n/d,CN=Ann,ann,group:*\n", OPTIONS),
    /^Error: shares\.csv:2: targetID: expected a distinguished name, or group: and an unprivileged Unix group$/,
  );
});

Deno.test("parseShareDump() reads a list of Unix groups, and requires that each is unprivileged", () => {
  const read = (gid: string) =>
    parseShareDump(`path,ownerID,uid,gid,targetID\n/d,CN=Ann,ann,${gid},CN=Ben\n`, OPTIONS);
  assert.deepEqual(["games:users", "games::users:"].map((gid) => read(gid)[0]?.gid), [
    "games:users",
    "games:users",
  ]);
  for (const gid of ["games:root", "games:a b", ":"]) {
    assert.throws(() => read(gid), /gid: expected the name of an unprivileged account or group/, gid);
  }
});

Deno.test("dumpEntry() contains all of a share, and parseShareDump() reads it back", () => {
  const [share] = parseShareDump("path,ownerID,uid,targetID\n/d/,CN=Ann,ann,group:hpc\n", OPTIONS);
  assert(share);
  const whole = {
    ...share,
    sources: ["192.0.2.0/24"],
    note: "results",
    password: "$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    quota: { files: 1, bytes: 1 },
    usesLeft: 1,
    oneTime: true,
    expires: 1,
    accessCount: 1,
  };
  for (const one of [share, whole]) {
    const text = JSON.stringify([dumpEntry(one)]);
    for (const start of ["", "\ufeff"]) {
      assert.deepEqual(parseShareDump(start + text, OPTIONS).map(dumpEntry), [dumpEntry(one)]);
    }
  }
  assert.deepEqual(dumpEntry(whole).sources, ["192.0.2.0/24"]);
  assert.equal("sources" in dumpEntry(share), false);
});

for (const record of ["no JSON", "[]", "null", '"text"']) {
  Deno.test(`parseShareDump() refuses ${record} as a record, and reports its line`, () => {
    const text = `id,data\nf2a41c6e9b7,"${record.replaceAll('"', '""')}"\n`;
    assert.throws(
      () => parseShareDump(text, OPTIONS),
      (error) =>
        error instanceof InvalidFile &&
        /^shares\.csv:2: expected a JSON object in the column data$/.test(error.message),
    );
  });
}

Deno.test("readShareDump() refuses a record that is not JSON, and reads the others", () => {
  const record = JSON.stringify({ path: "/d", ownerID: "CN=Ann", uid: "ann", targetID: "CN=Ben" });
  const text = `id,data\na1,no JSON\nb2,"${record.replaceAll('"', '""')}"\n`;
  const { shares, refused, diagnostics } = readShareDump(text, OPTIONS);
  assert.deepEqual([shares.map(({ id }) => id), refused], [["b2"], 1]);
  assert.deepEqual(diagnostics.map(({ line, expected }) => [line, expected]), [
    [2, "expected a JSON object in the column data"],
  ]);
});

for (
  const [text, expected] of [
    ["", "expected a header line or a JSON array"],
    ["nothing of the kind\n", "expected a header line or a JSON array"],
    ["id,ownerID,uid,targetID\n", "expected a header line or a JSON array"],
    ['{"shares": []}', "expected an array of shares"],
    ["{", "not valid JSON"],
    ["[{}", "not valid JSON"],
  ] as const
) {
  Deno.test(`readShareDump() refuses ${JSON.stringify(text)}, and does not read it as a dump without shares`, () => {
    assert.throws(() => readShareDump(text, OPTIONS), { message: new RegExp(`${expected}$`) });
  });
}

Deno.test("readShareDump() refuses shares with unknown members, which could be misspelt restrictions", () => {
  const csv =
    "path,ownerID,uid,targetID,sourceAddresses,\n/a,CN=Ann,ann,CN=Ben,10.0.0.1,\n/b,CN=Ann,ann,CN=Ben,,\n";
  const json = JSON.stringify([{
    path: "/a",
    ownerID: "CN=Ann",
    uid: "ann",
    targetID: "CN=Ben",
    expiry: 1,
    x: null,
  }]);
  for (
    const [text, read, ...place] of [[csv, 1, 2, "sourceaddresses"], [
      json,
      0,
      undefined,
      "[0].expiry",
    ]] as const
  ) {
    const { shares, refused, diagnostics } = readShareDump(text, OPTIONS);
    assert.deepEqual([shares.length, refused], [read, 1]);
    assert.deepEqual(diagnostics.map(({ line, key, expected }) => [line, key, expected]), [
      [...place, "unknown, see authserver share import --help"],
    ]);
  }
});

Deno.test("readShareDump() refuses a second share of a server with the same id, and says where the first is", () => {
  const csv = "id,server,path,ownerID,uid,targetID\n" +
    ["X1,HPC,/a", "X1,HPC,/b", "X1,GRP,/a"].map((line) => `${line},CN=Ann,ann,CN=Ben\n`).join("");
  const read = readShareDump(csv, { ...OPTIONS, servers: ["HPC", "GRP"] });
  assert.deepEqual([read.shares.map(({ server, path }) => server + path), read.refused], [
    ["HPC/a", "GRP/a"],
    1,
  ]);
  assert.deepEqual(read.diagnostics.map(({ line, key, expected }) => [line, key, expected]), [
    [3, "id", "used in line 2 already"],
  ]);
  const record = `('X1','${
    JSON.stringify({ ID: "X1", path: "/a", ownerID: "CN=A", uid: "ann", targetID: "CN=B" })
  }')`;
  const sql = readShareDump(`INSERT INTO SHARES_HPC VALUES ${record},${record};\n`, OPTIONS);
  assert.deepEqual([sql.shares.length, sql.refused], [1, 1]);
});
