import assert from "node:assert/strict";
import { checkHeaderLengths, HEADER_LIMITS } from "../../../src/service/http/header_limits.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import { isHttpError } from "../../../src/model/http_error.ts";

/** What callers may count on. */
const LIMITS = {
  "Accept": 1024,
  "Access-Control-Request-Method": 32,
  "Authorization": 32768,
  "Content-Encoding": 64,
  "Content-Length": 32,
  "Content-Range": 256,
  "Content-Type": 256,
  "Cookie": 32768,
  "Host": 512,
  "If-Match": 2048,
  "If-Modified-Since": 64,
  "If-None-Match": 2048,
  "If-Range": 256,
  "If-Unmodified-Since": 64,
  "Origin": 512,
  "Range": 256,
  "Sec-Fetch-Site": 64,
};
Deno.test("HEADER_LIMITS has what callers may count on", () => {
  assert.deepEqual(Object.keys(LIMITS).map((name) => HEADER_LIMITS.get(name)), Object.values(LIMITS));
});

for (const [name, limit] of HEADER_LIMITS) {
  Deno.test(`checkHeaderLengths() takes ${limit} characters of ${name}, and no more`, () => {
    checkHeaderLengths(new HeaderList([name, "x".repeat(limit)]));
    assert.throws(
      () => checkHeaderLengths(new HeaderList([name.toLowerCase(), "x".repeat(limit + 1)])),
      (error: unknown) => isHttpError(error, "ERR_HEADER_TOO_LONG") && error.publicMessage.includes(name),
    );
  });
}

Deno.test("every header that the service reads of a request has a limit", async () => {
  const read = /(?<!response\.headers)\.(?:get|has)\("([A-Z][A-Za-z-]+)"\)/g;
  const names = new Set<string>();
  for (const folder of ["service", "resource", "authentication", "attributes"]) {
    for await (const path of sources(new URL(`../../../src/${folder}`, import.meta.url).pathname)) {
      const source = await Deno.readTextFile(path);
      for (const [, name = ""] of source.matchAll(read)) names.add(name.toLowerCase());
    }
  }
  assert(names.has("accept") && names.has("range"), "the headers are not found any more");
  const limited = new Set([...HEADER_LIMITS.keys()].map((name) => name.toLowerCase()));
  assert.deepEqual([...names].filter((name) => !limited.has(name)), []);
});

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(`${folder}/${name}`);
    else if (name.endsWith(".ts")) yield `${folder}/${name}`;
  }
}
