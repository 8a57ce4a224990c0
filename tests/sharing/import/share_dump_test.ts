import assert from "node:assert/strict";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import { dumpEntry, parseShareDump } from "../../../src/sharing/import/share_dump.ts";

const OPTIONS = { file: "shares.csv", server: "HPC", servers: ["HPC"], now: 0 };

/** A table of the Java service as H2's CSVWRITE puts it out: the record is JSON in one column. */
const H2_TABLE = `"ID","DATA","CREATED"
"f2a41c6e9b7","{""ID"":""f2a41c6e9b7"",""path"":""/data/a \\""q\\"", b.txt"",""isDirectory"":false,""ownerID"":""CN=Ann"",""uid"":""ann"",""gid"":""users"",""targetID"":""CN=Bob"",""access"":""READ"",""oneTime"":false,""expires"":0,""accessCount"":2}","x"
"f2a41c6e9b8","{""path"":""/data/ü"",""isDirectory"":true,""ownerID"":""CN=Ann"",""uid"":""ann"",""targetID"":""CN=Bob"",""access"":""WRITE"",""oneTime"":false,""expires"":0,""accessCount"":0}","x"
`;

Deno.test("parseShareDump() reads a table of the Java service, whose records are JSON in the column data", () => {
  const [file, folder] = parseShareDump(H2_TABLE, OPTIONS);
  assert.deepEqual(
    [file?.id, file?.path, file?.uid, file?.gid, file?.access, file?.accessCount],
    ["f2a41c6e9b7", '/data/a "q", b.txt', "ann", "users", "READ", 2],
  );
  assert.deepEqual([folder?.id, folder?.path, folder?.access], ["f2a41c6e9b8", "/data/ü/", "WRITE"]);
});

Deno.test("parseShareDump() reads shares for groups, and says what it expects of a target", () => {
  const [share] = parseShareDump("path,ownerID,uid,targetID\n/d,CN=Ann,ann,group:hpc\n", OPTIONS);
  assert.equal(share?.target, "group:hpc");
  assert.deepEqual(
    parseShareDump(JSON.stringify(share && [dumpEntry(share)]), OPTIONS).map(({ target }) => target),
    ["group:hpc"],
  );
  assert.throws(
    () => parseShareDump("path,ownerID,uid,targetID\n/d,CN=Ann,ann,group:*\n", OPTIONS),
    /^InvalidFile: shares\.csv:2: targetID: expected a distinguished name, or group: and an unprivileged Unix group$/,
  );
});

Deno.test("dumpEntry() has all of a share, and parseShareDump() reads it back", () => {
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
    assert.deepEqual(parseShareDump(text, OPTIONS).map(dumpEntry), [dumpEntry(one)]);
  }
  assert.deepEqual(dumpEntry(whole).sources, ["192.0.2.0/24"]);
  assert.equal("sources" in dumpEntry(share), false);
});

for (const record of ["no JSON", "[]", "null", '"text"']) {
  Deno.test(`parseShareDump() refuses ${record} as a record, with its line`, () => {
    const text = `id,data\nf2a41c6e9b7,"${record.replaceAll('"', '""')}"\n`;
    assert.throws(
      () => parseShareDump(text, OPTIONS),
      (error) =>
        error instanceof InvalidFile &&
        /^shares\.csv:2: expected a JSON object in the column data$/.test(error.message),
    );
  });
}
