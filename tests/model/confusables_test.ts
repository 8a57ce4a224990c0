import assert from "node:assert/strict";
import { confusable } from "../../src/model/confusables.ts";

const DISGUISES: readonly (readonly [text: string, confusable: string | undefined])[] = [
  ["CN=Ann Example", undefined],
  ["x", undefined],
  ["Zoë", undefined],
  ["Zoe\u0308", undefined],
  ["王小明", undefined],
  ["Δημήτρης", undefined],
  ["", "an empty value"],
  [" \t", "an empty value"],
  ["a\tb", "a control character"],
  ["a\x7f", "a control character"],
  [" a", "blanks other than single ones between words"],
  ["a ", "blanks other than single ones between words"],
  ["a  b", "blanks other than single ones between words"],
  ["a\u00a0b", "blanks other than single ones between words"],
  ["a\u200bb", "a character that does not show"],
  ["a\u00adb", "a character that does not show"],
  ["a\u202eb", "a character that does not show"],
  ["a\u3164b", "a character that does not show"],
  ["\uff21nn", "a character that stands for others"],
  ["\ufb01t", "a character that stands for others"],
  ["\u212bngstrom", undefined],
  ["\u212aelvin", "a disguised ASCII character"],
];
for (const [text, expected] of DISGUISES) {
  Deno.test(`disguise() of ${JSON.stringify(text)} is ${expected}`, () => {
    assert.equal(confusable(text), expected);
  });
}
