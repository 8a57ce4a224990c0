import assert from "node:assert/strict";
import { fstatSync } from "node:fs";
import { isJournal, messagesForJournal } from "../../src/logging/journal.ts";

Deno.test("isJournal() believes the variable only of the stream that it names", () => {
  const { dev, ino } = fstatSync(1, { bigint: true });
  const withVariable = (value: string | undefined) => isJournal(1, () => value);
  assert.equal(withVariable(`${dev}:${ino}`), true);
  for (const value of [undefined, "", `${dev}:${ino + 1n}`, "1:1", "x"]) {
    assert.equal(withVariable(value), false);
  }
});

Deno.test("messagesForJournal() gives every line its priority", () => {
  assert.equal(
    messagesForJournal("error: a\nwarning: b\nNote on c: d\nauthserver serve: e\n"),
    "<3>error: a\n<4>warning: b\n<4>Note on c: d\n<3>authserver serve: e\n",
  );
});
