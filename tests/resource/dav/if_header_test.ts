import assert from "node:assert/strict";
import { ifHolds, parseIf } from "../../../src/resource/dav/if_header.ts";

const holds = (header: string | null, tokens: readonly string[] = [], etag?: string) =>
  ifHolds(parseIf(header), () => Promise.resolve({ tokens, etag }));

Deno.test("ifHolds() accepts an absent header, and one with a list whose conditions all hold", async () => {
  assert.equal(await holds(null), true);
  for (
    const header of [
      "(<a>)",
      '(<x>) (<a> ["1"])',
      "(Not <x>)",
      '<https://h/y> ([ "x"])'.replace("[ ", "["),
      '(Not ["2"])',
    ]
  ) {
    const [etag] = /"x"/.exec(header) ?? ['"1"'];
    assert.equal(await holds(header, ["a"], etag), true, header);
  }
  for (const header of ["(<x>)", '(<a> ["2"])', "(Not <a>)", "(<x>) (Not <a>)"]) {
    assert.equal(await holds(header, ["a"], '"1"'), false, header);
  }
});

Deno.test("parseIf() refuses text without a list, unclosed lists, and more than a hundred conditions", () => {
  const wrong = [
    "",
    "x",
    "()",
    "(<a>",
    "<a>",
    "(Not)",
    "(Not Not <a>)",
    "(<a>))",
    "(<a>) x",
    "(<a>) (",
    "(<a>)".repeat(101),
    `(${"<a>".repeat(101)})`,
  ];
  for (const header of wrong) {
    assert.throws(() => parseIf(header), { code: "ERR_INVALID_REQUEST" }, header.slice(0, 20));
  }
  assert.equal(parseIf("(<a>)".repeat(100)).length, 100);
  assert.equal(parseIf(`<https://h/x> (${"Not <a>".repeat(100)})`)[0]?.conditions.length, 100);
});
