import assert from "node:assert/strict";
import { UnreadableDump } from "../../../src/sharing/import/csv_rows.ts";
import { isSqlDump, sqlRecords } from "../../../src/sharing/import/sql_dump.ts";

const DUMPS:
  readonly (readonly [what: string, text: string, records: readonly [line: number, record: string][]])[] = [
    [
      "a plain literal of H2, with a quote and a backslash",
      `-- H2 2.4\nINSERT INTO "T" VALUES\n('a', 'x''\\', NULL);\n`,
      [[
        3,
        "x'\\",
      ]],
    ],
    ["U& of H2 2", `-- H2 2.4\nINSERT INTO "T" VALUES\n('a', U&'\\00fc\\+01f5c4\\\\', 'c'),\n('b', 'y');\n`, [
      [3, "ü🗄\\"],
      [4, "y"],
    ]],
    [
      "STRINGDECODE of H2 1",
      `-- H2 1.4\nINSERT INTO T(ID, DATA) VALUES ('a', STRINGDECODE('\\u00fc\\"''\\n'), 'c');\n`,
      [[
        2,
        `ü"'\n`,
      ]],
    ],
    [
      "escapes of MySQL",
      `-- MySQL dump\nINSERT INTO \`T\` VALUES ('a','{\\"x\\":\\"\\'\\\\\\\\\\"}','c'),('b','y;)','d');\n`,
      [
        [2, `{"x":"'\\\\"}`],
        [2, "y;)"],
      ],
    ],
    [
      "COPY of PostgreSQL",
      "--\nCOPY public.t (id, data, path) FROM stdin;\na\tx\\ty\\\\\tz\nb\ty\tz\n\\.\nc\tno\n",
      [
        [3, "x\ty\\"],
        [4, "y"],
      ],
    ],
    ["a record that is NULL", `-- H2\nINSERT INTO T VALUES ('a', NULL, 'c');\n`, []],
    [
      "rows after a comment with an apostrophe, in another statement",
      `-- H2\nINSERT INTO T VALUES ('a', 'x');\n-- the admin's rows\nINSERT INTO T VALUES ('b', 'y');\n`,
      [[2, "x"], [4, "y"]],
    ],
    ["rows of COPY with CR LF", "--\r\nCOPY public.t (id, data) FROM stdin;\r\na\tx\r\nb\ty\r\n\\.\r\n", [
      [3, "x"],
      [4, "y"],
    ]],
    [
      "other columns that look like records",
      `-- H2\nINSERT INTO T VALUES ('{}', 'x', '{"path":"/etc"}');\n`,
      [[2, "x"]],
    ],
  ];

for (const [what, text, records] of DUMPS) {
  Deno.test(`sqlRecords() reads ${what}`, () => {
    assert(isSqlDump(text));
    assert.deepEqual(sqlRecords(text).map(({ line, record }) => [line, record]), records);
  });
}

for (
  const text of [
    "--\nCOPY public.t (id, data) FROM stdin;\na\tx\nb\ty",
    "--\nCOPY public.t (id, data) FROM stdin;\na\tx\n",
    "-- H2\nINSERT INTO T VALUES ('a', 'x'), ('b', 'y",
    "-- H2\nINSERT INTO T VALUES ('a', 'x'),\n",
  ]
) {
  Deno.test(`sqlRecords() refuses a dump that is cut off: ${JSON.stringify(text.slice(-20))}`, () => {
    assert.throws(
      () => sqlRecords(text),
      (error) => error instanceof UnreadableDump && error.line === text.split("\n").length,
    );
  });
}

Deno.test("isSqlDump() rejects CSV and JSON", () => {
  for (const text of ['"ID","DATA"\n"a","INSERT INTO x"\n', "id,data\n", "[]", ""]) {
    assert(!isSqlDump(text), text);
  }
});
