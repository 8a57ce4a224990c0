import assert from "node:assert/strict";
import { HeaderList } from "../../../src/model/http_message.ts";
import { childOf, isDav, readDavBody } from "../../../src/resource/dav/dav_xml.ts";

const read = (text: string | null) =>
  readDavBody({ headers: new HeaderList([]), body: text === null ? null : new TextEncoder().encode(text) });

Deno.test("readDavBody() reads elements with their namespaces, and nothing without a body", async () => {
  assert.equal(await read(null), undefined);
  assert.equal(await read(""), undefined);
  const found = await read('<a:x xmlns:a="DAV:"><a:y> text </a:y><z xmlns="urn:z"/></a:x>');
  assert.ok(found !== undefined && isDav(found, "x"));
  assert.equal(childOf(found, "y")?.text, "text");
  assert.deepEqual([found.children[1]?.namespace, childOf(found, "z")], ["urn:z", undefined]);
  assert.equal((await read(`<x>${"<y/>".repeat(199)}</x>`))?.children.length, 199);
});

Deno.test("readDavBody() refuses what is not well-formed, has undeclared prefixes, or too many elements", async () => {
  const wrong = [
    " ",
    "text",
    "<x>",
    "<x></y>",
    "<a:x/>",
    '<x xmlns:a=""/>',
    '<a:b:x xmlns:a="DAV:"/>',
    `<x>${"<y/>".repeat(200)}</x>`,
  ];
  for (const text of wrong) {
    await assert.rejects(read(text), { code: "ERR_INVALID_REQUEST" }, text.slice(0, 20));
  }
});
