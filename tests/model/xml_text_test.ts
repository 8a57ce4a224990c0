import assert from "node:assert/strict";
import { DOMParser } from "@xmldom/xmldom";
import fc from "fast-check";
import { InvalidXml, type XmlEvent, XmlReader } from "../../src/model/xml_text.ts";
import { processorTime } from "./processor_time.ts";

function events(text: string): readonly XmlEvent[] {
  const reader = new XmlReader(text);
  const all: XmlEvent[] = [];
  for (let event = reader.next(); event !== undefined; event = reader.next()) all.push(event);
  return all;
}

/** Counts events without an array, which would take time itself. */
function countEvents(text: string): number {
  const reader = new XmlReader(text);
  let count = 0;
  while (reader.next() !== undefined) count++;
  return count;
}

/** Returns tags and texts on one line, such as `<a x=1>text</a>`. */
function outline(text: string): string {
  return events(text).map((event) => {
    if (event.kind === "text") return event.text;
    if (event.kind === "close") return `</${event.name}>`;
    return `<${event.name}${[...event.attributes].map(([name, value]) => ` ${name}=${value}`).join("")}>`;
  }).join("");
}

const GOOD: readonly (readonly [string, string])[] = [
  ["<a/>", "<a></a>"],
  ['\ufeff<?xml version="1.0" encoding="utf-8"?>\n<a/>\n', "<a></a>"],
  ["<a>x &lt;&amp;&gt;&quot;&apos; &#65;&#x1F600;</a>", `<a>x <&>"' A😀</a>`],
  ["<a x='1' y=\"a'b&#10;&lt;\"\n/>", "<a x=1 y=a'b <></a>"],
  ["<n:a xmlns:n='u'><n:b/></n:a >", "<a xmlns:n=u><b></b></a>"],
  ["<!-- <b> & --><a><!-- -->x<!----></a><!-- -->", "<a>x</a>"],
  ["<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", "<a><b>&amp;]]></a>"],
  ["<?pi x?><a><?pi <b> ?></a>", "<a></a>"],
  ["<größe>ü</größe>", "<größe>ü</größe>"],
  ['<?xml version="1.0" encoding="ISO-8859-1"?><a>plain</a>', "<a>plain</a>"],
];

const BAD: readonly (readonly [string, number, string])[] = [
  ["", 1, "not complete"],
  ["  \n ", 2, "not complete"],
  ["text", 1, "no text outside"],
  ["<a>", 1, "not complete"],
  ["<a>\n</b>", 2, "</a>"],
  ["<a>\n</ab>", 2, ">"],
  ["</a>", 1, "no closing tag"],
  ["<a/>\n<b/>", 2, "one root element"],
  ["<a/>x", 1, "no text outside"],
  ["<a x></a>", 1, "expected ="],
  ["<a x=1/>", 1, '="value"'],
  ['<a x="1"y="2"/>', 1, "a blank"],
  ['<a x="1" x="2"/>', 1, "each attribute once"],
  ['<a x="<"/>', 1, "&lt;"],
  ['<a x="1', 1, "further on"],
  ["<a", 1, "a blank"],
  ["<1a/>", 1, "a name"],
  ["< a/>", 1, "a name"],
  ["<a>&nbsp;</a>", 1, "&lt;"],
  ["<a>a & b</a>", 1, "&lt;"],
  ["<a>&#xD800;</a>", 1, "&lt;"],
  ["<a>&#0;</a>", 1, "no control characters"],
  ["<a>&#x110000;</a>", 1, "&lt;"],
  ["<a>\u0001</a>", 1, "no control characters"],
  ["<a><!-- x</a>", 1, "further on"],
  ["<a><![CDATA[ x</a>", 1, "further on"],
  ["<![CDATA[x]]><a/>", 1, "no document type"],
  ["\n<!DOCTYPE a><a/>", 2, "no document type"],
  ["<!doctype a><a/>", 1, "no document type"],
  ["<a><!ENTITY x 'y'></a>", 1, "no document type"],
  [" <?xml version='1.0'?><a/>", 1, "no second XML declaration"],
  ['<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>', 1, 'encoding="UTF-8" here'],
  ["<a>".repeat(1_000_000), 1, "at most 32 levels"],
];

Deno.test("XmlReader reads elements, attributes, texts and references", () => {
  for (const [text, expected] of GOOD) assert.equal(outline(text), expected, text);
});

Deno.test("XmlReader refuses malformed XML, and reports the line", () => {
  for (const [text, line, expected] of BAD) {
    assert.throws(() => events(text), (error) => {
      assert.ok(error instanceof InvalidXml, `${text.slice(0, 40)}: ${error}`);
      assert.equal(error.line, line, text.slice(0, 40));
      assert.ok(error.expected.includes(expected), `${text.slice(0, 40)}: ${error.expected}`);
      return true;
    });
  }
});

Deno.test("XmlReader reports lines and positions", () => {
  const text = "<a>\n\n<b/>\n<c\nx='1'>t</c></a>";
  const opened = events(text).filter((event) => event.kind === "open");
  assert.deepEqual(opened.map(({ name, line, start }) => [name, line, text.slice(start, start + 2)]), [
    ["a", 1, "<a"],
    ["b", 3, "<b"],
    ["c", 4, "<c"],
  ]);
});

Deno.test("XmlReader refuses attacks of any size quickly", async () => {
  const billion = `<!DOCTYPE l [<!ENTITY a "ha">${
    Array.from({ length: 20 }, (_, i) => `<!ENTITY a${i} "&a${i - 1};&a${i - 1};">`).join("")
  }]><l>&a19;</l>`;
  const external = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>';
  const parameter = '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/x">%x;]><a/>';
  const attacks = [billion, external, parameter, "<a>".repeat(10_000_000), "<a ".repeat(10_000_000)];
  const took = await processorTime(() => {
    for (const attack of attacks) assert.throws(() => events(attack), InvalidXml);
  });
  assert.ok(took < 1000, `${took} ms`);
});

/** Longest step in which a system counts processor time, in milliseconds. */
const TICK_MS = 10;

Deno.test("XmlReader takes time linear in the length, also on a single line", async () => {
  const take = async (elements: number) => {
    const document = `<r>${"<a b='c'>x</a>".repeat(elements)}</r>`;
    const times = [];
    for (let i = 0; i < 3; i++) {
      times.push(await processorTime(() => assert.equal(countEvents(document), 3 * elements + 2)));
    }
    return Math.min(...times);
  };
  await take(5_000); // lets the engine compile the code
  const [short, long] = [await take(10_000), await take(80_000)];
  assert.ok(long < 3 * 8 * Math.max(short, TICK_MS), `${short} ms, and ${long} ms for eight times the text`);
});

/** Random well-formed documents. */
const text = fc.string({ unit: fc.constantFrom(..."ab <&>\"'ü😀]\n"), maxLength: 8 });
const escaped = text.map((raw) => raw.replace(/[<&>]/g, (c) => `&#${c.charCodeAt(0)};`));
const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
  element: fc.tuple(fc.constantFrom("a", "b", "c"), escaped, tie("content")).map(([name, value, content]) =>
    `<${name} x="${value.replace(/["\n]/g, "")}">${content}</${name}>`
  ),
  content: fc.oneof(
    { maxDepth: 4 },
    escaped,
    fc.array(tie("element"), { maxLength: 3 }).map((all) => all.join("<!-- -->")),
  ),
}));

Deno.test("XmlReader reads the same document as a DOM parser", () => {
  fc.assert(fc.property(element, (document) => {
    const root = new DOMParser().parseFromString(document, "text/xml").documentElement;
    const all = events(document);
    assert.equal(
      all.filter(({ kind }) => kind === "text").map((e) => e.kind === "text" && e.text).join(""),
      root.textContent,
    );
    const opened = all.filter((event) => event.kind === "open");
    const others = [root, ...Array.from(root.getElementsByTagName("*"))];
    assert.deepEqual(
      opened.map(({ name, attributes }) => [name, attributes.get("x")]),
      others.map((other) => [other.tagName, other.getAttribute("x")]),
    );
  }));
});

Deno.test("XmlReader reads a text or throws InvalidXml", () => {
  const pieces = fc.constantFrom(
    "<a>",
    "</a>",
    "<b x='1'/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&",
    "x",
    "<",
    ">",
    "<?x?>",
    '"',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")), (candidate) => {
      try {
        events(candidate);
      } catch (error) {
        assert.ok(error instanceof InvalidXml);
      }
    }),
    { numRuns: 2000 },
  );
});
