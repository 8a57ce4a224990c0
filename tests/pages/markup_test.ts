import assert from "node:assert/strict";
import fc from "fast-check";
import { isolated, Markup, markup } from "../../src/pages/markup.ts";

Deno.test("markup`` escapes texts and numbers, keeps markup, joins lists and omits absent values", () => {
  const inner = markup`<b>${"a<b"}</b>`;
  const shown = markup`<p title="${'"&`'}">${inner}${[1, "'", inner]}${undefined}${false}</p>`;
  assert.equal(
    shown.toString(),
    '<p title="&#34;&#38;&#96;"><b>a&#60;b</b>1&#39;<b>a&#60;b</b></p>',
  );
});

Deno.test("markup`` escapes all markup characters of a value", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const shown = markup`${text}`.toString();
    assert.doesNotMatch(shown, /[<>"'`]/);
    assert.equal(shown.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))), text);
  }));
});

Deno.test("Markup.style() refuses a text that could end the element", () => {
  assert.equal(Markup.style("a > b {}").toString(), "<style>a > b {}</style>");
  assert.throws(() => Markup.style("</style>"), TypeError);
});

Deno.test("Markup.script() refuses a text that could end its element or nest another", () => {
  assert.equal(Markup.script("if (a < b) go()").toString(), "<script>if (a < b) go()</script>");
  for (const text of ["'</script>'", "'<!--'", "'<SCRIPT>'"]) {
    assert.throws(() => Markup.script(text), TypeError, text);
  }
});

Deno.test("isolated() shows invisible characters of a name", () => {
  assert.equal(isolated("a\u202egpj.exe").toString(), "<bdi>a\\u{202e}gpj.exe</bdi>");
  assert.equal(isolated("a\u200bb").toString(), "<bdi>a\\u{200b}b</bdi>");
  assert.equal(isolated("\u05e9\u05dc\u05d5\u05dd").toString(), "<bdi>\u05e9\u05dc\u05d5\u05dd</bdi>");
});
