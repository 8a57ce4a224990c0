import assert from "node:assert/strict";
import fc from "fast-check";
import { fixOf } from "../../src/command/diagnosis/fix.ts";
import { formatDiagnostic, InvalidFile } from "../../src/model/diagnostic.ts";
import { readReservationFile } from "../../src/reservations/reservation_file.ts";

const CONTEXT = { file: "res.json", zone: "UTC", now: Date.parse("2026-01-01T00:00:00Z") };
const read = (text: string) => readReservationFile(text, CONTEXT);

const TIMES = { from: "2026-01-05 20:00", to: "2026-01-05 23:00" };
const FROM = Date.parse("2026-01-05T20:00:00Z");
const TO = Date.parse("2026-01-05T23:00:00Z");

function entry(members: Readonly<Record<string, unknown>>): ReturnType<typeof read> {
  return read(JSON.stringify({ reservations: [{ name: "r", ...TIMES, ...members }] }));
}

Deno.test("readReservationFile() reads the example of the specification", () => {
  const { reservations, diagnostics } = read(`{
    "reservations": [
      { "name": "night-run", "from": "2026-01-05 20:00", "to": "2026-01-05 23:00", "uids": ["ann", "bob"], "rateLimit": "50M" },
      { "name": "default", "from": "2026-01-05 20:00", "to": "2026-01-05 23:00", "uids": [] }
    ], "comment": "kept"
  }`);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(reservations, [
    { name: "night-run", from: FROM, to: TO, uids: ["ann", "bob"], rateLimit: 52428800, limitText: "50M" },
    { name: "default", from: FROM, to: TO, uids: [], rateLimit: 10485760, limitText: "10m" },
  ]);
});

Deno.test("readReservationFile() reads accounts from uids and uid, as texts or numbers", () => {
  const uids = (members: Readonly<Record<string, unknown>>) => entry(members).reservations[0]?.uids;
  assert.deepEqual(uids({}), []);
  assert.deepEqual(uids({ uid: "ann" }), ["ann"]);
  assert.deepEqual(uids({ uids: ["ann", " bob ", 1001, "ann", ""], uid: "eve" }), [
    "ann",
    "bob",
    "1001",
    "eve",
  ]);
  assert.deepEqual(uids({ uids: "ann" }), ["ann"]);
});

Deno.test("readReservationFile() reads the limit as text or number", () => {
  const limit = (rateLimit: unknown) => entry({ rateLimit }).reservations[0]?.rateLimit;
  assert.deepEqual(["10m", "10 MB/s", null, "1G", "250000", 250000, "0"].map(limit), [
    10485760,
    10485760,
    10485760,
    1073741824,
    250000,
    250000,
    0,
  ]);
});

Deno.test("readReservationFile() names a reservation without a name by its position", () => {
  assert.equal(entry({ name: undefined }).reservations[0]?.name, "reservation 1");
});

/** Members of invalid entries, each with its diagnostic. */
const BAD: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ from: undefined }, "'r': expected a start, from"],
  [{ to: undefined }, "'r': expected an end, to"],
  [{ from: true }, "'r' from: expected a start, from"],
  [{ from: "tomorrow" }, "'r' from = tomorrow: expected a time such as 2026-01-05 20:00"],
  [{ to: "2026-01-05 19:00" }, "'r' to = 2026-01-05 19:00: expected an end after the start"],
  [{ uids: [null] }, "'r' uids: expected account names as texts"],
  [{ uids: { ann: true } }, "'r' uids: expected account names as texts"],
  [{ uid: false }, "'r' uid: expected account names as texts"],
  [{ rateLimit: "fast" }, "'r' rateLimit = fast: expected bytes per second"],
  [{ rateLimit: -5 }, "'r' rateLimit: expected bytes per second"],
  [{ rateLimit: false }, "'r' rateLimit: expected a rate as text"],
];

Deno.test("readReservationFile() skips a bad entry, reports its name and keeps the others", () => {
  const good = { name: "good", ...TIMES };
  for (const [members, message] of BAD) {
    const list = [good, { name: "r", ...TIMES, ...members }, { ...good, name: "good2" }];
    const { reservations, diagnostics } = read(JSON.stringify({ reservations: list }, null, 1));
    assert.deepEqual(reservations.map(({ name }) => name), ["good", "good2"]);
    assert.equal(diagnostics.length, 1, message);
    const [diagnostic] = diagnostics;
    assert.ok(diagnostic !== undefined && diagnostic.line !== undefined && diagnostic.line > 7);
    assert.ok(
      formatDiagnostic(diagnostic).startsWith(`res.json:${diagnostic.line}: ${message}`),
      formatDiagnostic(diagnostic),
    );
  }
  for (const entry of ["null", "5", '"x"', "[]"]) {
    assert.equal(read(`{"reservations": [${entry}]}`).diagnostics[0]?.expected, "expected an object", entry);
  }
});

Deno.test("readReservationFile() accepts an empty object as no reservations", () => {
  assert.deepEqual(read("{}\n"), { reservations: [], diagnostics: [] });
});

Deno.test("readReservationFile() refuses a file without reservations", () => {
  for (
    const [text, message] of [
      ["", "res.json:1: expected {, found the end"],
      ["[]", 'res.json:1: expected {, found "["'],
      ['{"reservation": []}', 'res.json:1: expected an array "reservations"'],
      ['{\n"reservations": {}}', 'res.json:2: expected an array "reservations"'],
      ['{"reservations": [\n}', 'res.json:2: expected a value, found "}"'],
      [
        '{"reservations": [],\n"reservations": []}',
        'res.json:2: expected each name once, found "reservations" again',
      ],
    ] as const
  ) {
    assert.throws(() => read(text), (error) => {
      assert.ok(error instanceof InvalidFile);
      assert.equal(error.message, message);
      const [remedy = ""] = error.diagnostics.map(fixOf);
      assert.doesNotMatch(remedy, /found/);
      return true;
    });
  }
});

Deno.test("readReservationFile() returns reservations that end after they begin, or diagnostics, for any entries", () => {
  const time = fc.oneof(
    fc.constantFrom("2026-01-05 20:00", "20:00", "2026-01-05T20:00:00+0100"),
    fc.string(),
  );
  const value = fc.oneof(time, fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("10m", ["ann"]));
  const members = fc.dictionary(
    fc.constantFrom("name", "from", "to", "uids", "uid", "rateLimit", "x"),
    value,
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(members, fc.jsonValue({ maxDepth: 1 })), { maxLength: 4 }), (list) => {
      const { reservations, diagnostics } = read(JSON.stringify({ reservations: list }));
      assert.equal(reservations.length + diagnostics.length, list.length);
      for (const { from, to, rateLimit } of reservations) assert.ok(from < to && rateLimit >= 0);
    }),
  );
});
