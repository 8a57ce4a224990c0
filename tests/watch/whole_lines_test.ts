import assert from "node:assert/strict";
import { endsWithinLine, wholeLines } from "../../src/watch/whole_lines.ts";

const EARLIER = "# users\nann:x:CN=Ann, C=DE\nbob:y:CN=Bob, C=DE\n";

const CUT: [string, string, string?][] = [
  ["in the last line", EARLIER.slice(0, -3)],
  ["in another line", "# users\nann:x:CN=An"],
  ["in a comment", "# us"],
  ["in a line of a save that changed others", "cy:z:CN=Cy, C=DE\nann:x:CN=Ann"],
  ["in a text with Windows line ends", "# users\r\nann:x:CN=Ann", EARLIER.replaceAll("\n", "\r\n")],
  ["in a text without a final line end", EARLIER.slice(0, -2), EARLIER.slice(0, -1)],
];
for (const [what, text, earlier = EARLIER] of CUT) {
  Deno.test(`endsWithinLine() detects a text truncated ${what}`, () => {
    assert.equal(endsWithinLine(text, earlier), true);
  });
}

const WHOLE: [string, string, string?][] = [
  ["that is unchanged", EARLIER],
  ["that is empty", ""],
  ["whose last line end was removed", EARLIER.slice(0, -1)],
  ["that ends with half a Windows line end", "# users\r", "# users\r\nann:x:CN=Ann\r\n"],
  ["whose last lines were removed", "# users\nann:x:CN=Ann, C=DE\n"],
  ["whose last lines were removed, and the line end before", "# users\nann:x:CN=Ann, C=DE"],
  ["with a shortened line and a line end", "ann:x:CN=Ann\n"],
  ["with another last line, without a line end", `${EARLIER}cy:z:CN=Cy`],
  ["with a longer last line, without a line end", `${EARLIER.slice(0, -1)}, O=Lab`],
  ["whose last line is the middle of an earlier one", "CN=Ann"],
  ["after an empty text", "ann:x:CN=Ann", ""],
  [
    "whose last line equals a line and begins another",
    "ann:x:CN=Ann",
    "ann:x:CN=Ann, C=DE\nann:x:CN=Ann\n",
  ],
];
for (const [what, text, earlier = EARLIER] of WHOLE) {
  Deno.test(`endsWithinLine() accepts a text ${what}`, () => {
    assert.equal(endsWithinLine(text, earlier), false);
  });
}

Deno.test("wholeLines() refuses a truncation of the last good text, and accepts it with a line end", async () => {
  const parse = wholeLines((text) => {
    if (text.includes("broken")) throw new RangeError(text);
    return text.length;
  });
  const cut = "ann:x:CN=Ann";
  assert.equal(await parse(cut, "file"), cut.length, "there is nothing to compare the first text with");
  assert.equal(await parse(EARLIER, "file"), EARLIER.length);
  await assert.rejects(Promise.try(parse, cut, "file"), /^SyntaxError: the last line has no line end/);
  await assert.rejects(Promise.try(parse, "broken", "file"), RangeError);
  await assert.rejects(Promise.try(parse, cut, "file"), SyntaxError, "what was refused is no good text");
  assert.equal(await parse(`${cut}\n`, "file"), cut.length + 1);
});
