import assert from "node:assert/strict";
import { forPostgres, positionalValues } from "../../../src/store/postgres/postgres_sql.ts";

Deno.test("forPostgres() numbers parameters by their names, each once", () => {
  const { text, names } = forPostgres("SELECT :b, :a, x::text FROM t WHERE y = :b", false);
  assert.equal(text, "SELECT $1, $2, x::text FROM t WHERE y = $1");
  assert.deepEqual(names, ["b", "a"]);
  assert.deepEqual(positionalValues(names, { a: null, b: 2 }), [2, null]);
  assert.throws(() => positionalValues(names, { b: 2 }), /no value for :a/);
});

Deno.test("forPostgres() uses the server's time, unless one is given", () => {
  const asked = forPostgres("SELECT :now, :clock, :nowhere", false);
  assert.equal(asked.text.match(/statement_timestamp/g)?.length, 2);
  assert.deepEqual(asked.names, ["nowhere"]);
  assert.deepEqual(forPostgres("SELECT :now", true), { text: "SELECT $1::bigint", names: ["now"] });
});

Deno.test("forPostgres() omits index hints, and translates lists", () => {
  const sql = "UPDATE t INDEXED BY t_by_x SET y = 1 WHERE x IN (SELECT value FROM json_each(:xs))";
  assert.equal(
    forPostgres(sql, false).text,
    "UPDATE t SET y = 1 WHERE x IN (SELECT value FROM jsonb_array_elements_text($1::text::jsonb) AS each(value))",
  );
});

Deno.test("forPostgres() inserts rows of JSON with the types of the table's columns", () => {
  const { text, names } = forPostgres(
    "INSERT INTO share (id, at) SELECT value ->> 'id', value ->> 'at' FROM json_each(:rows) WHERE TRUE RETURNING id",
    false,
  );
  assert.equal(
    text,
    "INSERT INTO share (id, at) SELECT id, at FROM json_populate_recordset(NULL::authserver.share, $1::text::json) RETURNING id",
  );
  assert.deepEqual(names, ["rows"]);
});

Deno.test("forPostgres() counts a whole table up to a bound, and estimates beyond it", () => {
  const { text } = forPostgres("SELECT (SELECT count(*) FROM share) AS shares", false);
  assert.match(text, /FROM \(SELECT 1 FROM share LIMIT 10000\)/);
  assert.match(text, /FROM pg_class WHERE oid = 'share'::regclass/);
});
