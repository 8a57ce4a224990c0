/**
 * Places that the service cannot write to or listen on: `check` finds them, and `serve` ends with status 78
 * and one line.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { SHARE_SCHEMA } from "../../src/sharing/store/schema.ts";
import { SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { createSite, type Setting } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

interface Case {
  readonly what: string;
  readonly properties: Setting["properties"];
  readonly files?: Setting["files"];
  /** Folder that the test creates before the files. */
  readonly folder?: string;
  readonly told: RegExp;
  readonly fix: RegExp;
  /** Whether a process of its own serves. */
  readonly inProcess?: boolean;
}

const DATA = { "persistence.directory": "{folder}/data" };

const CASES: readonly Case[] = [
  {
    what: "a persistence.directory that cannot be created",
    properties: { "persistence.directory": "{folder}/conf/users.txt/data" },
    told:
      /container\.properties:\d+: persistence\.directory: \S+\/data cannot be made: \S+users\.txt is not a folder/,
    fix: /mv \S+users\.txt \S+\.old/,
    inProcess: true,
  },
  {
    what: "a persistence.directory of the kernel's, where Deno forbids to write",
    properties: { "persistence.directory": "/dev/shm/authserver" },
    told:
      /container\.properties:\d+: persistence\.directory: the program may not write to \/dev\/shm\/authserver/,
    fix: /set persistence\.directory to a path .* such as \/var\/lib\/authserver/,
    inProcess: true,
  },
  ...["shares.sqlite", "records.sqlite"].flatMap((name): Case[] => [
    {
      what: `a damaged ${name}`,
      properties: DATA,
      folder: "data",
      files: { [`data/${name}`]: "x".repeat(9000) },
      told: new RegExp(`persistence\\.directory: \\S+/data/${name}: file is not a database`),
      fix: new RegExp(`mv \\S+${name} \\S+\\.damaged, then restore`),
    },
    {
      what: `a folder in place of ${name}`,
      properties: DATA,
      folder: `data/${name}`,
      told: new RegExp(`persistence\\.directory: \\S+/data/${name} is not a file`),
      fix: /mv \S+ \S+\.old/,
    },
  ]),
  {
    what: "a metrics port that is also the service's port",
    properties: {
      "container.port": "39517",
      "container.metrics.port": "39517",
      "container.metrics.host": "0.0.0.0",
    },
    told: /container\.metrics\.port: is container\.port, too/,
    fix: /choose another/,
  },
  {
    what: "a control socket below a file",
    properties: { "container.control.socket": "{folder}/conf/users.txt/control.sock" },
    told: /container\.control\.socket: \S+users\.txt cannot be made: \S+ is not a folder/,
    fix: /mv \S+users\.txt /,
  },
  {
    what: "a control socket whose path is another file",
    properties: { "container.control.socket": "{folder}/conf/users.txt" },
    told: /container\.control\.socket: \S+users\.txt is there and is no socket/,
    fix: /mv \S+users\.txt /,
  },
  {
    what: "a control socket with too long a path",
    properties: { "container.control.socket": `{folder}/${"x".repeat(92)}` },
    told: /container\.control\.socket = \S+: expected a path of at most 92 bytes/,
    fix: /set container\.control\.socket=\/run\/authserver\/control\.sock/,
  },
  {
    what: "an address of another machine",
    properties: { "container.host": "192.0.2.1" },
    told: /container\.host = 192\.0\.2\.1: this machine has no such address/,
    fix: /set container\.host=0\.0\.0\.0/,
    inProcess: true,
  },
  {
    what: "a metrics address of another machine",
    properties: { "container.metrics.host": "192.0.2.1", "container.metrics.port": "0" },
    told: /container\.metrics\.host = 192\.0\.2\.1: this machine has no such address/,
    fix: /set container\.metrics\.host=0\.0\.0\.0/,
  },
];

/** Runs `serve` with the flags of the product. */
async function serveInProcess(main: string) {
  const process = runAuthserver(["serve", "--config", main]);
  return { status: await process.ended, printed: process.printed };
}

/** Runs `serve` in this process. */
async function serveHere(main: string) {
  const io = recordedIo();
  return { status: await runCommand(["serve", "--config", main], io), printed: io.out + io.err };
}

for (const { what, properties, files = {}, folder, told, fix, inProcess = false } of CASES) {
  Deno.test(`check finds ${what}; serve ends with status 78 and one line about it`, async () => {
    await using site = await createSite({ properties: properties ?? {} });
    if (folder !== undefined) await Deno.mkdir(`${site.folder}/${folder}`, { recursive: true });
    for (const [path, text] of Object.entries(files)) await site.replace(path, text);
    const io = recordedIo();
    assert.equal(await runCommand(["check", "--config", site.main], io), 1);
    const errors = io.err.split("\n").filter((line) => line.startsWith("error: "));
    assert.equal(errors.length, 1, io.err);
    assert.match(errors[0] ?? "", told);
    assert.match(io.err, fix);
    const { status, printed } = await (inProcess ? serveInProcess : serveHere)(site.main);
    assert.equal(status, 78, printed);
    const lines = printed.split("\n").filter((line) => told.test(line));
    assert.equal(lines.length, 1, printed);
    assert.match(printed, fix);
    assert.doesNotMatch(printed, /Uncaught| at .*\.ts:\d+/);
  });
}

Deno.test("check warns about a log file that cannot be written, since the service runs without it", async () => {
  await using site = await createSite({
    properties: { "container.logging.file": "{folder}/conf/users.txt/x" },
  });
  const io = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main], io), 0);
  assert.match(
    io.err,
    /^warning: \S+: container\.logging\.file: \S+ cannot be made: \S+users\.txt is not a folder$/m,
  );
  await using other = await createSite({ properties: { "container.logging.file": "/dev/stdout" } });
  const out = recordedIo();
  assert.equal(await runCommand(["check", "--config", other.main], out), 0);
  assert.match(
    out.err,
    /^warning: \S+: container\.logging\.file: the program may not write to \/dev\n {2}fix: set \S+=- /m,
  );
});

Deno.test("check examines databases without a folder for temporary files, as in a container with a read-only root", async () => {
  await using site = await createSite({ properties: DATA });
  await Deno.mkdir(`${site.folder}/data`);
  const file = `${site.folder}/data/shares.sqlite`;
  new SqliteDatabase(file, SHARE_SCHEMA, Date.now).close();
  const check = async () => {
    const ran = runAuthserver(["check", "--config", site.main], { env: { TMPDIR: "/nowhere" } });
    return { code: await ran.ended, printed: ran.printed };
  };
  const usable = await check();
  assert.equal(usable.code, 0, usable.printed);
  assert.deepEqual([...Deno.readDirSync(`${site.folder}/data`)].map(({ name }) => name), ["shares.sqlite"]);
  const database = new DatabaseSync(file);
  database.exec("PRAGMA application_id = 1");
  database.close();
  const foreign = await check();
  assert.equal(foreign.code, 1);
  assert.match(foreign.printed, /shares\.sqlite: not a share database of this service \(application_id 1\)/);
});
