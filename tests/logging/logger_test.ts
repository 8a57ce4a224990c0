import assert from "node:assert/strict";
import fc from "fast-check";
import { formatLine } from "../../src/logging/logger.ts";
import { CHARACTER } from "../fixtures/character.ts";

Deno.test("formatLine() writes any value as one line without control characters, without loss", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER, maxLength: 100 }), (value) => {
    const line = formatLine(0, "info", "refused", { value });
    assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}]/u);
    const [, written = ""] = line.split(" value=");
    assert.equal(
      written.startsWith('"') ? JSON.parse(line.slice(line.indexOf(" value=") + 7)) : written,
      value,
    );
  }));
});
