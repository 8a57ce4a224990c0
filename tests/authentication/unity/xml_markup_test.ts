import assert from "node:assert/strict";
import { InvalidResponse } from "../../../src/authentication/unity/saml_names.ts";
import { checkMarkup } from "../../../src/authentication/unity/xml_element.ts";

const times = (count: number, text: string) => text.repeat(count);
const attributes = (count: number) => Array.from({ length: count }, (_, i) => ` a${i}="b"`).join("");

const GOOD: [what: string, text: string][] = [
  ["a declaration", `<?xml version="1.0"?><a/>`],
  ["a declaration after a byte order mark", `\ufeff<?xml version="1.0"?><a/>`],
  ["a bracket and a slash in a value", `<a b=">" c='/>'><d e="'&lt;"/></a>`],
  ["five hundred elements", `<a>${times(499, "<b/>")}</a>`],
  ["64 levels", times(64, "<a>") + times(64, "</a>")],
  ["63 levels around many elements", times(63, "<a>") + times(400, "<b/>") + times(63, "</a>")],
  ["32 attributes", `<a${attributes(32)}/>`],
  ["256 KiB", `<a>${times(256 * 1024 - 7, "x")}</a>`],
];
for (const [what, text] of GOOD) {
  Deno.test(`checkMarkup() accepts ${what}`, () => checkMarkup(text));
}

const BAD: [what: string, text: string, expected: RegExp][] = [
  ["comments before the root", `${times(9_000, "<!---->")}<a/>`, /comment/],
  ["processing instructions before the root", `${times(9_000, "<?a?>")}<a/>`, /processing instruction/],
  ["a style sheet", "<?xml-stylesheet href='a'?><a/>", /processing instruction/],
  ["a declaration that is not at the beginning", " <?xml version='1.0'?><a/>", /processing instruction/],
  ["CDATA", "<a><![CDATA[b]]></a>", /CDATA/],
  ["a document type", "<!DOCTYPE a><a/>", /document type/],
  ["more than five hundred elements", `<a>${times(500, "<b/>")}</a>`, /more than 500 elements/],
  ["65 levels", times(65, "<a>") + times(65, "</a>"), /at most 64 levels/],
  ["an empty element at level 65", `${times(64, "<a>")}<b/>${times(64, "</a>")}`, /at most 64 levels/],
  ["closing tags before opening tags", `${times(99, "</a>")}${times(99, "<a>")}`, /expected no closing tag/],
  ["33 attributes", `<a${attributes(33)}/>`, /more than 32 attributes/],
  [
    "too many attributes in all",
    `<a>${times(300, `<b${attributes(6)}/>`)}</a>`,
    /more than 1500 attributes/,
  ],
  ["more than 256 KiB", `<a>${times(256 * 1024 - 6, "x")}</a>`, /longer than 262144/],
  ["an unclosed tag", "<a b", /not XML: line 1: expected =/],
  ["an unclosed value", `<a b="c>`, /expected " further on/],
  ["a bracket in a value", `<a b="<"/>`, /expected &lt;/],
  ["an unclosed declaration", "<?xml version='1.0'><a/>", /not XML/],
  ["a second declaration", "<?xml version='1.0'?><?xml version='1.0'?><a/>", /processing instruction/],
  ["the closing tag of another element", "<a></b>", /expected <\/a>/],
  ["a tag within a tag", "<a <b/>", /expected a name/],
];
for (const [what, text, expected] of BAD) {
  Deno.test(`checkMarkup() refuses ${what}`, () => {
    assert.throws(() => checkMarkup(text), { constructor: InvalidResponse, message: expected });
  });
}
