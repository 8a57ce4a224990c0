import assert from "node:assert/strict";
import fc from "fast-check";
import {
  attributesOfEntry,
  type MapEntry,
  type MapFormat,
  MAX_MAP_LENGTH,
  readMapEntry,
  readMapFile,
} from "../../../src/attributes/file/map_file.ts";
import { formatDiagnostic, InvalidFile } from "../../../src/model/diagnostic.ts";
import { attributeSet } from "../conformance.ts";

async function read(text: string, format?: MapFormat): Promise<readonly MapEntry[]> {
  const entries: MapEntry[] = [];
  await readMapFile(text, {
    file: "map",
    take: (entry) => entries.push(entry),
    ...(format ? { format } : {}),
  });
  return entries;
}

/** Returns the keys with their attributes. */
async function content(text: string): Promise<unknown> {
  return (await read(text)).map((
    { key, attributes },
  ) => [key, attributes.map(({ name, values }) => [name, values])]);
}

const fixture = (name: string) =>
  Deno.readTextFile(new URL(`../../fixtures/attributes/${name}`, import.meta.url));

Deno.test("readMapFile() reads the same from both variants of a map", async () => {
  const strip = async (name: string) =>
    (await read(await fixture(name))).map((
      entry,
    ) => [entry.key.replaceAll(", ", ","), attributesOfEntry(entry)]);
  const json = await strip("variant_a.json");
  assert.equal(json.length, 3);
  assert.deepEqual(await strip("variant_b.xml"), json);
});

Deno.test("readMapFile() keeps file order, keys such as __proto__, and line numbers", async () => {
  const entries = await read(
    '{\n"b": {"role": "user"},\n"__proto__": {},\n"2": {"constructor":\n["x"]}, "1": {}}',
  );
  assert.deepEqual(entries.map(({ key, line }) => [key, line]), [["b", 2], ["__proto__", 3], ["2", 4], [
    "1",
    5,
  ]]);
  assert.deepEqual(entries[2]?.attributes, [{ name: "constructor", values: ["x"], line: 4 }]);
});

Deno.test("attributesOfEntry() knows the standard names in any case, and keeps all others as they are", () => {
  const attribute = (name: string, ...values: string[]) => ({ name, values, line: 1 });
  const entry = {
    key: "CN=x",
    line: 1,
    source: "",
    attributes: [
      attribute("ROLE", "user", "admin"),
      attribute("Xlogin", "a"),
      attribute("group", "old"),
      attribute("Group", "g1", "g2"),
      attribute("SUPPLEMENTARYGROUPS", "s1", "s2"),
      attribute("addOsGroups", "true"),
      attribute("queue"),
      attribute("addDefaultGroups", "x"),
      attribute("uftpd.S.xlogin", "a"),
      attribute("UFTPD.S.xlogin", "b"),
      attribute("uftpd.S.xlogin", "c"),
      attribute("empty"),
    ],
  };
  assert.deepEqual(
    attributesOfEntry(entry),
    attributeSet(
      {
        role: ["user", "admin"],
        xlogin: ["a"],
        group: ["g1", "g2"],
        supplementaryGroups: ["s1", "s2"],
        addDefaultGroups: ["true"],
        queue: [],
      },
      { addDefaultGroups: ["x"], "uftpd.S.xlogin": ["a", "c"], "UFTPD.S.xlogin": ["b"], empty: [] },
    ),
  );
});

/** Invalid texts, with the message for the operator. */
const INVALID: readonly (readonly [string, string])[] = [
  ["", "map:1: expected JSON, beginning with {, or XML, beginning with <"],
  ["CN=x", "map:1: expected JSON, beginning with {, or XML, beginning with <"],
  ['{"CN=x": {"role": "user",,}}', 'map:1: expected a name in "quotes", found ","'],
  ['{"CN=x": {}, "CN=x": {}}', 'map:1: expected each name once, found "CN=x" again'],
  ['{"CN=x":\n{"role": "user",\n"role": "user"}}', 'map:3: expected each name once, found "role" again'],
  ['{"CN=x": "user"}', "map:1: CN=x = a text: expected an object with attributes"],
  ['{"CN=x": {"limit":\n5}}', 'map:2: CN=x: limit = 5: expected a text, such as "5" in quotes'],
  ['{"CN=x": {"on": [true]}}', 'map:1: CN=x: on = true: expected a text, such as "true" in quotes'],
  ['{"CN=x": {"role": null}}', "map:1: CN=x: role = null: expected a text or an array of texts"],
  ['{"CN=x": {"role": {}}}', "map:1: CN=x: role = an object: expected a text or an array of texts"],
  ['{"CN=x": {"role": [["user"]]}}', "map:1: CN=x: role = an array: expected a text or an array of texts"],
  ["<map/>", "map:1: expected the root element fileAttributeSource"],
  ["<fileAttributeSource>\n<user/></fileAttributeSource>", "map:2: expected the element entry, found user"],
  ["<fileAttributeSource>x</fileAttributeSource>", "map:1: expected no text between the elements"],
  ["<fileAttributeSource><entry/></fileAttributeSource>", "map:1: expected an entry with a key"],
  [
    "<fileAttributeSource><entry key='k'><value/></entry></fileAttributeSource>",
    "map:1: expected the element attribute, found value",
  ],
  [
    "<fileAttributeSource><entry key='k'>\n<attribute><value/></attribute></entry></fileAttributeSource>",
    "map:2: expected an attribute with a name",
  ],
  [
    "<fileAttributeSource><entry key='k'><attribute name='a'><b/></attribute></entry></fileAttributeSource>",
    "map:1: expected the element value, found b",
  ],
  [
    "<fileAttributeSource><entry key='k'><attribute name='a'><value><b/></value></attribute></entry></fileAttributeSource>",
    "map:1: expected text only",
  ],
  [
    "<fileAttributeSource><entry key='k'/>\n<entry key=' k '/></fileAttributeSource>",
    'map:2: expected each key once, found "k" again',
  ],
  ["<fileAttributeSource><entry key='k'>", "map:1: expected more, the document is not complete"],
  [
    "<!DOCTYPE x><fileAttributeSource/>",
    "map:1: expected no document type and no entities: they are not read",
  ],
];

Deno.test("readMapFile() refuses a broken file and says where it is broken", async () => {
  for (const [text, message] of INVALID) {
    await assert.rejects(() => read(text), (error) => {
      assert.ok(error instanceof InvalidFile, text);
      assert.deepEqual(error.diagnostics.map(formatDiagnostic), [message]);
      return true;
    });
  }
});

Deno.test("readMapFile() reports up to 100 diagnostics of a file at once", async () => {
  const entries = Array.from({ length: 300 }, (_, i) => `"CN=${i}": {"limit": ${i}}`);
  await assert.rejects(
    () => read(`{${entries.join()}}`),
    (error) => error instanceof InvalidFile && error.diagnostics.length === 100,
  );
});

Deno.test("readMapFile() refuses a file that has errors even if warnings fill the list", async () => {
  const text = `{${Array.from({ length: 201 }, (_, i) => `"CN=${i}": {}`).join()}}`;
  let count = 0;
  await assert.rejects(() =>
    readMapFile(text, {
      file: "map",
      take: (_, report) => report({ expected: "x", ...(++count > 200 ? {} : { severity: "warning" }) }),
    }), InvalidFile);
});

Deno.test("readMapFile() reads a file in the format that its caller gives", async () => {
  await assert.rejects(() => read("<fileAttributeSource/>", "JSON"), InvalidFile);
  await assert.rejects(() => read("{}", "XML"), InvalidFile);
  assert.deepEqual(await read(" \n\ufeff{}".trim()), []);
});

Deno.test("readMapFile() yields to the event loop while it reads", async () => {
  const text = `{${
    Array.from({ length: 60_000 }, (_, i) => `"CN=User ${i}": {"role": "user"}`).join(",\n")
  }}`;
  let semaphore = 0;
  let reading = true;
  const others = (async () => {
    for (; reading; semaphore++) await new Promise((resolve) => setTimeout(resolve, 0));
  })();
  await read(text);
  reading = false;
  await others;
  assert.ok(semaphore >= 2, `${semaphore} turns`);
});

const name = fc.string({ unit: fc.constantFrom(..."abü<&>\"'é 😀\\"), minLength: 1, maxLength: 6 }).map((s) =>
  `x${s}x`
);
const value = fc.string({ unit: fc.constantFrom(..."ab:/*ü<&>\"'\\"), maxLength: 6 });
const map = fc.uniqueArray(
  fc.tuple(
    name,
    fc.uniqueArray(fc.tuple(name, fc.array(value, { maxLength: 3 })), { selector: ([n]) => n, maxLength: 4 }),
  ),
  {
    selector: ([key]) => key,
    maxLength: 6,
  },
);

Deno.test("readMapFile() reads the same from a JSON and an XML file with the same content", async () => {
  const xmlText = (text: string) => text.replace(/[<&>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  await fc.assert(fc.asyncProperty(map, async (entries) => {
    // Writes JSON without an object, which would reorder keys such as "1".
    const json = entries.map(([key, attributes]) =>
      `${JSON.stringify(key)}: {${
        attributes.map(([n, v]) => `${JSON.stringify(n)}: ${JSON.stringify(v)}`).join()
      }}`
    );
    const xml = entries.map(([key, attributes]) =>
      `<entry key="${xmlText(key)}">${
        attributes.map(([n, values]) =>
          `<attribute name="${xmlText(n)}">${
            values.map((v) => `<value>${xmlText(v)}</value>`).join("")
          }</attribute>`
        ).join("\n")
      }</entry>`
    );
    assert.deepEqual(await content(`{${json.join(",\n")}}`), entries);
    assert.deepEqual(await content(`<fileAttributeSource>${xml.join("\n")}</fileAttributeSource>`), entries);
  }));
});

Deno.test("readMapEntry() reads an entry again from its part of the file", async () => {
  for (const file of ["variant_a.json", "variant_b.xml"]) {
    for (const entry of await read(await fixture(file))) {
      const again = readMapEntry(entry.source);
      assert.ok(again !== undefined);
      assert.deepEqual([again.key, attributesOfEntry(again)], [entry.key, attributesOfEntry(entry)]);
    }
  }
});

Deno.test("readMapFile() reads a rate that is a number as bytes per second, and warns", async () => {
  const rates: (readonly string[])[] = [];
  const text = '{"CN=x": {"uftpd.HPC.rateLimit": 5000000,\n"rateLimit": ["7", 8]}}';
  const warnings = await readMapFile(text, {
    file: "map",
    take: ({ attributes }) => rates.push(...attributes.map(({ values }) => values)),
  });
  assert.deepEqual(rates, [["5000000"], ["7", "8"]]);
  assert.deepEqual(warnings.map(formatDiagnostic), [
    'map:1: CN=x: uftpd.HPC.rateLimit = 5000000: used as bytes per second, expected a text such as "5000000" in quotes',
    'map:2: CN=x: rateLimit = 8: used as bytes per second, expected a text such as "8" in quotes',
  ]);
});

Deno.test("readMapFile() refuses a text above MAX_MAP_LENGTH before reading it", async () => {
  await assert.rejects(read("{".padEnd(MAX_MAP_LENGTH + 1)), (error) => {
    assert(error instanceof InvalidFile);
    assert.deepEqual(error.diagnostics.map(({ expected }) => expected), [
      `expected at most ${MAX_MAP_LENGTH} characters`,
    ]);
    return true;
  });
});
