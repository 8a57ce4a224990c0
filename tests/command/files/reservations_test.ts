import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../recorded_io.ts";

const MAIN = `container.security.credential.path=conf/host.pem
container.security.truststore.directoryLocations.1=conf/ca/*.pem
authservice.servers=A B C
container.security.rest.authentication.order=SSHKEY
${
  ["A", "B", "C"].map((name) =>
    `authservice.server.${name}.host=192.0.2.1
authservice.server.${name}.port=64434
authservice.server.${name}.commandHost=10.0.0.1
authservice.server.${name}.commandPort=64435
`
  ).join("")
}`;

/** A folder with three servers, of which these have reservations. */
async function withServers(
  reserving: readonly string[],
  act: (
    run: (...args: string[]) => Promise<{ status: number; out: string; err: string }>,
    file: (server: string) => string,
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const file = (server: string) => `${folder}/${server}.json`;
  const lines = reserving.map((name) =>
    `authservice.server.${name}.reservations.enable=true\nauthservice.server.${name}.reservations.file=${
      file(name)
    }\n`
  );
  await Deno.writeTextFile(`${folder}/c`, MAIN + lines.join(""), { mode: 0o600 });
  try {
    await act(async (...args) => {
      const io = recordedIo();
      const status = await runCommand(["reservations", ...args, "--config", `${folder}/c`], io);
      return { status, out: io.out, err: io.err };
    }, file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const TIMES = ["--from", "2030-01-05 20:00", "--to", "2030-01-06 06:00"];

Deno.test("reservations are added, listed and removed", async () => {
  await withServers(["A"], async (run, file) => {
    assert.equal((await run("list")).out, "There are no reservations\n");
    const added = await run("add", "night", ...TIMES, "--uids", "ann, bob", "--limit", "5M");
    assert.equal(added.status, 0, added.err);
    assert.match(added.out, /night +2030-01-05 20:00 +2030-01-06 06:00 +5M +to come +ann,bob/);
    assert.deepEqual(JSON.parse(await Deno.readTextFile(file("A"))), {
      reservations: [{
        name: "night",
        from: "2030-01-05 20:00",
        to: "2030-01-06 06:00",
        uids: ["ann", "bob"],
        rateLimit: "5M",
      }],
    });
    const [listed] = JSON.parse((await run("list", "--json")).out);
    assert.deepEqual([listed.name, listed.uids, listed.rateLimit], [
      "night",
      ["ann", "bob"],
      5 * 1024 * 1024,
    ]);
    assert.equal((await run("remove", "night")).status, 0);
    assert.equal((await run("list")).out, "There are no reservations\n");
  });
});

Deno.test("reservations list says which are over and which hold now", async () => {
  await withServers(["A"], async (run) => {
    await run("add", "old", "--from", "2020-01-01 00:00", "--to", "2020-01-02 00:00", "--uids", "ann");
    await run("add", "now", "--from", "2020-01-01 00:00", "--to", "2120-01-02 00:00", "--uids", "ann");
    const { out } = await run("list");
    assert.match(out, /^old .* over +ann$/m);
    assert.match(out, /^now .* active +ann$/m);
  });
});

Deno.test("reservations list tells of entries that are left out", async () => {
  await withServers(["A"], async (run, file) => {
    await Deno.writeTextFile(file("A"), '{"reservations":[{"name":"bad","from":"x","to":"y"}]}');
    const { status, err } = await run("list");
    assert.equal(status, 1);
    assert.match(err, /skipped: .*'bad' from = x/);
  });
});

const REFUSED: readonly [what: string, args: string[], status: number, message: RegExp][] = [
  ["no times", ["add", "x"], 2, /Expected --from TIME, --to TIME and --uids NAMES/],
  ["no accounts", ["add", "x", ...TIMES, "--uids", " , "], 2, /at least one account/],
  ["no name", ["add", ...TIMES, "--uids", "a"], 2, /Expected <name>/],
  ["an empty name", ["add", "", ...TIMES, "--uids", "a"], 1, /needs a name/],
  [
    "times that are none",
    ["add", "x", "--from", "soon", "--to", "later", "--uids", "a"],
    1,
    /expected a time/,
  ],
  [
    "an end before the start",
    ["add", "x", ...TIMES.with(3, "2029-01-01 00:00"), "--uids", "a"],
    1,
    /end after/,
  ],
  ["a limit that is none", ["add", "x", ...TIMES, "--uids", "a", "--limit", "fast"], 1, /expected/],
  ["a removal of nothing", ["remove", "x"], 1, /no reservation named 'x'/],
  ["an unknown server", ["list", "--server", "Z"], 1, /no server Z, expected one of A, B, C/],
  ["a server without", ["list", "--server", "C"], 1, /server\.C\.reservations\.enable=true/],
  ["an unclear server", ["list"], 2, /Expected --server NAME, one of A, B/],
];

for (const [what, args, status, message] of REFUSED) {
  Deno.test(`reservations refuses ${what}`, async () => {
    const named = what.includes("server") ? args : [...args, "--server", "A"];
    await withServers(["A", "B"], async (run) => {
      const result = await run(...named);
      assert.match(result.err, message);
      assert.equal(result.status, status);
    });
  });
}

Deno.test("reservations refuses a name that is there already", async () => {
  await withServers(["A"], async (run) => {
    await run("add", "x", ...TIMES, "--uids", "a");
    const again = await run("add", "x", ...TIMES, "--uids", "b");
    assert.equal(again.status, 1);
    assert.match(again.err, /already a reservation named 'x'/);
  });
});
