import assert from "node:assert/strict";
import fc from "fast-check";
import { trimCharacters, trimEndCharacters } from "../../src/model/trim.ts";

Deno.test("trimCharacters() takes away what regular expressions would, at both ends", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(" ", "\t", "a", "\u00e9") }), (text) => {
      assert.equal(trimCharacters(text, " \t"), text.replace(/^[ \t]+/, "").replace(/[ \t]+$/, ""));
      assert.equal(trimEndCharacters(text, " "), text.replace(/ +$/, ""));
    }),
  );
});
