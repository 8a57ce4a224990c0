import assert from "node:assert/strict";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { SILENT } from "../../src/logging/logger.ts";
import { Sinks } from "../../src/logging/sink.ts";
import { DatabaseFailure, row, rows } from "../../src/store/database.ts";
import {
  databaseDamage,
  type Schema,
  SqliteDatabase,
  UnknownDatabase,
} from "../../src/store/sqlite_database.ts";
import { HeldDisk } from "../fixtures/held_disk.ts";

const SCHEMA: Schema = {
  what: "note book",
  applicationId: 77,
  steps: ["CREATE TABLE note (text TEXT NOT NULL) STRICT"],
};
const NEWER: Schema = { ...SCHEMA, steps: [...SCHEMA.steps, "ALTER TABLE note ADD COLUMN at INTEGER"] };

const INSERT = "INSERT INTO note (text) VALUES (:text)";

function open(file: string, schema = SCHEMA): SqliteDatabase {
  return new SqliteDatabase(file, schema, () => 1_800_000_000_999);
}

async function inFolder(check: (file: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await check(`${folder}/notes.sqlite`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("SqliteDatabase runs the missing schema steps of a file, and refuses a file with more steps", () =>
  inFolder(async (file) => {
    const old = open(file);
    await old.change(() => rows(INSERT, { text: "kept" }));
    old.close();
    const later = open(file, NEWER);
    const found = await later.read(() => rows("SELECT text, at FROM note", {}));
    assert.deepEqual(found.map((row) => ({ ...row })), [{ text: "kept", at: null }]);
    later.close();
    assert.throws(
      () => open(file),
      (error) =>
        error instanceof UnknownDatabase &&
        /schema version 2, this service knows up to 1/.test(error.message),
    );
  }));

Deno.test("SqliteDatabase refuses files of other programs", () =>
  inFolder((file) => {
    open(file).close();
    const other = { ...SCHEMA, what: "share database", applicationId: 78 };
    assert.throws(
      () => open(file, other),
      /not a share database of this service \(application_id 77\)/,
    );
  }));

for (const [what, size] of [["small", 10], ["larger than 16 MiB", 17 * 1024 ** 2]] as const) {
  Deno.test(`databaseDamage() accepts a ${what} database, but none of others or a newer version`, () =>
    inFolder(async (file) => {
      const later = open(file, NEWER);
      await later.change(() => rows(INSERT, { text: "x".repeat(size) }));
      const whileOpen = await databaseDamage(file, NEWER);
      later.close();
      assert.deepEqual([whileOpen, await databaseDamage(file, NEWER)], [undefined, undefined]);
      assert.match(await databaseDamage(file, SCHEMA) ?? "", /schema version 2, this service knows up to 1$/);
      const other = { ...NEWER, applicationId: 78 };
      assert.match(
        await databaseDamage(file, other) ?? "",
        /not a note book of this service \(application_id 77\)$/,
      );
      assert.deepEqual([...Deno.readDirSync(dirname(file))].map(({ name }) => name), ["notes.sqlite"]);
    }));
}

Deno.test("SqliteDatabase syncs each change to disk, except asynchronous ones, several at once if possible", () =>
  inFolder(async (file) => {
    using disk = new HeldDisk();
    const database = open(file);
    const done: string[] = [];
    const change = async (text: string, asyncCommit = false) => {
      await database.change(() => rows(INSERT, { text }), { asyncCommit });
      done.push(text);
    };
    await change("asynchronous", true);
    assert.deepEqual([done, disk.calls], [["asynchronous"], 0]);
    const first = change("first");
    await setImmediate();
    const found = await database.read(() => rows("SELECT text FROM note", {}));
    assert.deepEqual([found.length, done.length, disk.calls], [2, 1, 1]);
    // The sync under way may have begun before these changes.
    const others = [change("second"), change("third")];
    await change("asynchronous too", true);
    assert.equal(disk.calls, 1);
    disk.end();
    await first;
    await setImmediate();
    assert.deepEqual([done.slice(1), disk.calls], [["asynchronous too", "first"], 2]);
    disk.end(new Error("broken disk"));
    for (const other of others) {
      await assert.rejects(
        other,
        (error) => error instanceof DatabaseFailure && /broken disk/.test(error.message),
      );
    }
    const last = change("last");
    await setImmediate();
    disk.end();
    await assert.doesNotReject(last);
    database.close();
  }));

Deno.test("SqliteDatabase keeps its locks when the process opens the file again, so that no other program deletes its log", () =>
  inFolder(async (file) => {
    /** Returns the number of this process's locks on database and WAL index; 0 without /proc/locks. */
    const locks = async () => {
      const inodes = (await Promise.all([file, `${file}-shm`].map((path) => Deno.stat(path)))).map((
        { ino },
      ) => ino);
      const lines = (await Deno.readTextFile("/proc/locks").catch(() => "")).split("\n");
      // Other file systems may have the same inode numbers, with locks of other processes.
      const own = lines.filter((line) => line.includes(` ${Deno.pid} `));
      return own.filter((line) => inodes.some((inode) => line.includes(`:${inode} `))).length;
    };
    const first = open(file);
    const before = await locks();
    const second = open(file);
    second.close();
    assert.equal(await locks(), before);
    first.close();
  }));

Deno.test("SqliteDatabase rolls back a change that fails", () =>
  inFolder(async (file) => {
    const database = open(file);
    const failing = database.change(function* () {
      yield* rows(INSERT, { text: "half" });
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    assert.deepEqual(await database.read(() => rows("SELECT * FROM note", {})), []);
    await assert.rejects(database.change(() => rows(INSERT, { text: "a\0b" })), TypeError);
    database.close();
    assert.equal(database.isOpen, false);
  }));

Deno.test("SqliteDatabase reports SQLite errors as DatabaseFailure", () =>
  inFolder(async (file) => {
    const database = open(file);
    await assert.rejects(database.read(() => rows("SELECT * FROM elsewhere", {})), DatabaseFailure);
    database.close();
  }));

/** Runs a check while another program holds the lock of the file, in virtual time. */
async function whileLocked(
  file: string,
  check: (other: { readonly release: () => void; readonly pass: (ms: number) => void }) => Promise<void>,
): Promise<void> {
  open(file).close();
  using program = new DatabaseSync(file);
  program.exec("BEGIN IMMEDIATE");
  const real = performance.now;
  let now = 0;
  performance.now = () => now;
  try {
    await check({ release: () => program.exec("COMMIT"), pass: (ms) => now += ms });
  } finally {
    performance.now = real;
  }
}

Deno.test("SqliteDatabase queues changes in order while another program writes; reads, the thread and new cores continue", () =>
  inFolder((file) =>
    whileLocked(file, async ({ release }) => {
      const database = open(file);
      const texts = async () =>
        (await database.read(() => rows("SELECT text FROM note", {}))).map(({ text }) => text);
      const changes = ["one", "two"].map((text) => database.change(() => rows(INSERT, { text })));
      await setImmediate();
      assert.deepEqual(await texts(), []);
      release();
      await changes[0];
      // Waiting changes come first.
      await Promise.all([database.change(() => rows(INSERT, { text: "three" })), ...changes]);
      assert.deepEqual(await texts(), ["one", "two", "three"]);
      database.close();
    })
  ));

Deno.test("SqliteDatabase aborts a change after five seconds of another program's lock, and reports that", () =>
  inFolder((file) =>
    whileLocked(file, async ({ release, pass }) => {
      const sinks = new Sinks(SILENT);
      const database = new SqliteDatabase(file, SCHEMA, () => 0, sinks.of("records"));
      const changes = ["one", "two"].map((text) => database.change(() => rows(INSERT, { text })));
      pass(5000);
      await Promise.all(changes.map((change) => assert.rejects(change, DatabaseFailure)));
      assert.match(sinks.states[0]?.failure?.reason ?? "", /notes\.sqlite: .*locked/);
      release();
      assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
      database.close();
    })
  ));

Deno.test("SqliteDatabase binds the time of its clock", () =>
  inFolder(async (file) => {
    const database = open(file);
    const time = await database.read(() => row("SELECT :now AS now, :clock AS clock", {}));
    assert.deepEqual({ ...time }, { now: 1_800_000_000, clock: 1_800_000_000_999 });
    const alone = async (sql: string) => ({ ...await database.read(() => row(sql, {})) });
    assert.deepEqual(await alone("SELECT :now AS now"), { now: 1_800_000_000 });
    assert.deepEqual(await alone("SELECT :clock AS clock"), { clock: 1_800_000_000_999 });
    database.close();
  }));

Deno.test("SqliteDatabase reports that the disk refuses changes, and detects by itself that it accepts them again", () =>
  inFolder(async (file) => {
    open(file).close();
    const sinks = new Sinks(SILENT);
    const database = new SqliteDatabase(file, SCHEMA, () => 0, sinks.of("records"));
    const pragma = (text: string) => database.read(() => rows(`PRAGMA ${text}`, {}));
    await database.change(() => rows(INSERT, { text: "kept" }));
    assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
    const [pages] = await pragma("page_count");
    await pragma(`max_page_count = ${pages?.["page_count"]}`);
    const large = () => database.change(() => rows(INSERT, { text: "x".repeat(100_000) }));
    await assert.rejects(large(), DatabaseFailure);
    assert.match(sinks.of("records").state.failure?.reason ?? "", /notes\.sqlite: .*full/);
    await pragma("query_only = ON");
    assert.match(sinks.states[0]?.failure?.reason ?? "", /full/, "the next try fails, too");
    await pragma("query_only = OFF");
    assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
    await assert.rejects(
      database.change(() => rows("INSERT INTO note (text) VALUES (NULL)", {})),
      DatabaseFailure,
    );
    assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }], "a mistake is no fault of the disk");
    database.close();
  }));

Deno.test("SqliteDatabase reports a damaged file until it is opened again, even if writes to other pages succeed", () =>
  inFolder(async (file) => {
    const insert = () => rows(INSERT, { text: "kept" });
    const before = open(file);
    await before.change(insert);
    before.close();
    {
      using pages = Deno.openSync(file, { write: true });
      pages.seekSync(4096, Deno.SeekMode.Start); // the table
      pages.writeSync(new Uint8Array(4096).fill(0x5a));
    }
    const sinks = new Sinks(SILENT);
    const database = new SqliteDatabase(file, SCHEMA, () => 0, sinks.of("records"));
    await assert.rejects(database.change(insert), DatabaseFailure);
    assert.match(sinks.states[0]?.failure?.reason ?? "", /notes\.sqlite: .*malformed/);
    await database.change(() => rows("CREATE TABLE other (text TEXT) STRICT", {}));
    assert.match(sinks.states[0]?.failure?.reason ?? "", /malformed/);
    database.close();
  }));

Deno.test("SqliteDatabase reports that the disk fails to sync until a sync succeeds, even if asked in between", () =>
  inFolder(async (file) => {
    using disk = new HeldDisk();
    const sinks = new Sinks(SILENT);
    const database = new SqliteDatabase(file, SCHEMA, () => 0, sinks.of("records"));
    const sync = async (error?: Error) => {
      await setImmediate();
      disk.end(error);
      await setImmediate();
    };
    const refused = assert.rejects(database.change(() => rows(INSERT, { text: "x" })), DatabaseFailure);
    await sync(new Error("EIO"));
    await refused;
    for (let asked = 1; asked < 3; asked++) {
      assert.match(sinks.states[0]?.failure?.reason ?? "", /notes\.sqlite: .*EIO/);
      await sync(new Error("EIO"));
      assert.equal(disk.calls, 1 + asked, "it was tried again");
    }
    const refusedAgain = assert.rejects(database.change(() => rows(INSERT, { text: "x" })), DatabaseFailure);
    await sync(new Error("EIO"));
    await refusedAgain;
    assert.notEqual(sinks.states[0]?.failure, undefined);
    await sync();
    assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
    database.close();
  }));

const LOST_FILES: readonly (readonly [what: string, lose: (file: string) => Promise<void>])[] = [
  ["were moved", (file) => Deno.rename(dirname(file), `${dirname(file)}-moved`)],
  ["were deleted", (file) => Deno.remove(file)],
  ["lost their log", (file) => Deno.remove(`${file}-wal`)],
  ["were replaced", async (file) => {
    await Deno.copyFile(file, `${file}.old`);
    await Deno.rename(`${file}.old`, file);
  }],
];
for (const [what, lose] of LOST_FILES) {
  Deno.test(`SqliteDatabase refuses changes after its files ${what}, since they would be lost`, async () => {
    await inFolder(async (outer) => {
      const file = `${dirname(outer)}/data/notes.sqlite`;
      await Deno.mkdir(dirname(file));
      const sinks = new Sinks(SILENT);
      const database = new SqliteDatabase(file, SCHEMA, () => 0, sinks.of("records"));
      const change = () => database.change(() => rows(INSERT, { text: "kept" }));
      await change();
      await lose(file);
      await assert.rejects(change(), DatabaseFailure);
      assert.match(sinks.states[0]?.failure?.reason ?? "", /notes\.sqlite: .*moved, deleted or replaced/);
      assert.equal((await database.read(() => rows("SELECT * FROM note", {}))).length, 1, "and reads go on");
      if (what === "were moved") {
        await Deno.rename(`${dirname(file)}-moved`, dirname(file));
        assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
        await change();
      }
      database.close();
    });
  });
}
