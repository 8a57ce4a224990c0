import assert from "node:assert/strict";
import fc from "fast-check";
import { HeaderList } from "../../../../src/model/http_message.ts";
import { formFiles } from "../../../../src/resource/access/drop/form_files.ts";

const BOUNDARY = "----FormBoundary7";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

interface Part {
  readonly name?: string;
  readonly bytes: Uint8Array;
}

/** Returns the form that a browser sends for files. */
function formOf(parts: readonly Part[]): Uint8Array {
  const texts = new TextEncoder();
  const pieces = parts.flatMap(({ name, bytes }) => [
    texts.encode(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"${
        name === undefined ? "" : `; filename="${name.replaceAll('"', "%22")}"\r\nContent-Type: text/plain`
      }\r\n\r\n`,
    ),
    bytes,
    texts.encode("\r\n"),
  ]);
  return join([...pieces, texts.encode(`--${BOUNDARY}--\r\n`)]);
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Returns a stream of pieces with these lengths, in rotation. */
function streamed(bytes: Uint8Array, lengths: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0;
  let i = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const length = lengths[i++ % lengths.length] ?? 1;
      controller.enqueue(bytes.slice(at, at + length));
      at += length;
    },
  });
}

async function read(
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  type = TYPE,
): Promise<Part[]> {
  const found: Part[] = [];
  for await (const file of formFiles(HeaderList.of({ "Content-Type": type }), body)) {
    found.push({ name: file.name, bytes: join(await Array.fromAsync(file.body)) });
  }
  return found;
}

Deno.test("formFiles() returns the files that a browser sends, in pieces of any length", async () => {
  const nearly = fc.constantFrom(
    "\r\n",
    "--",
    "\r\n--",
    `\r\n--${BOUNDARY.slice(0, -1)}`,
    `--${BOUNDARY}`,
    "x",
  )
    .map((text) => new TextEncoder().encode(text));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // No browser chooses a boundary that a file contains.
    fc.array(nearly, { maxLength: 8 }).map(join).filter((bytes) =>
      !new TextDecoder().decode(bytes).includes(`\r\n--${BOUNDARY}`)
    ),
  );
  const name = fc.string({ unit: fc.constantFrom(...'a.txt/ü"日 %&;=<>'), minLength: 1, maxLength: 12 })
    .filter((text) => !text.includes("%22"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, bytes }, { noNullPrototype: true }), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      async (files, lengths) => {
        const form = formOf(files);
        if (files.length === 0) return; // browsers send an empty part without files
        assert.deepEqual(await read(streamed(form, lengths)), files);
        assert.deepEqual(await read(Uint8Array.from(form)), files);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("formFiles() skips fields without a file, and the preamble", async () => {
  const form = formOf([
    { bytes: new TextEncoder().encode("a field") },
    { name: "", bytes: new Uint8Array() },
    { name: "a", bytes: new Uint8Array([1]) },
  ]);
  const preamble = join([new TextEncoder().encode("for old readers\r\n"), form]);
  for (const body of [form, preamble]) {
    assert.deepEqual((await read(streamed(body, [7]))).map(({ name }) => name), ["a"]);
  }
});

const text = (value: string) => new TextEncoder().encode(value);

Deno.test("formFiles() returns the text of a few fields before a file, and no file as a field", async () => {
  const field = (name: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="t"; filename="${name}"\r\n\r\nx\r\n`;
  const told = async (parts: readonly string[]) => {
    const found: [string, Record<string, string>][] = [];
    for await (
      const { name, body, fields } of formFiles(
        HeaderList.of({ "Content-Type": TYPE }),
        text(`${parts.join("")}--${BOUNDARY}--\r\n`),
      )
    ) {
      found.push([name, Object.fromEntries(fields)]);
      await Array.fromAsync(body);
    }
    return found;
  };
  assert.deepEqual((await told([field("t", "ü\r\n--x"), field("u", ""), file("a")])).at(0), [
    "a",
    { t: "ü\r\n--x", u: "" },
  ]);
  assert.deepEqual(await told([file(""), field("t", "v")]), []);
  assert.deepEqual((await told([file(""), file("a")])).at(0), ["a", {}]);
  const many = Array.from({ length: 30 }, (_, i) => field(`f${i}`, "v"));
  assert.equal(Object.keys((await told([...many, file("a")])).at(0)?.[1] ?? {}).length, 10);
  await assert.rejects(told([field("t", "x".repeat(10_000)), file("a")]), { code: "ERR_INVALID_REQUEST" });
});

Deno.test("formFiles() accepts a boundary of up to 70 characters, in quotes or not", async () => {
  for (const quote of ["", '"']) {
    const form = (boundary: string) => {
      const part = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n`;
      return read(
        text(`${part}--${boundary}--\r\n`),
        `multipart/form-data; Boundary=${quote}${boundary}${quote}; charset=utf-8`,
      );
    };
    assert.deepEqual((await form("b".repeat(70))).map(({ name }) => name), ["a"]);
    await assert.rejects(form("b".repeat(71)), { code: "ERR_INVALID_REQUEST" });
    await assert.rejects(form(""), { code: "ERR_INVALID_REQUEST" });
  }
});

Deno.test("formFiles() accepts a head of up to 8,192 bytes, in pieces of any length", async () => {
  const disposition = 'Content-Disposition: form-data; name="f"; filename="a"';
  for (const lengths of [[1], [7], [4096], [100_000]]) {
    const form = (length: number) => {
      const head = `${disposition}\r\nX: `.padEnd(length, "y");
      return read(streamed(text(`--${BOUNDARY}\r\n${head}\r\n\r\nx\r\n--${BOUNDARY}--\r\n`), lengths));
    };
    assert.deepEqual((await form(8192)).map(({ name }) => name), ["a"]);
    await assert.rejects(form(8193), { code: "ERR_INVALID_REQUEST" });
  }
});

const WRONG: readonly (readonly [string, string, Uint8Array<ArrayBuffer>])[] = [
  ["no boundary", "multipart/form-data", text("x")],
  ["nothing", TYPE, text("")],
  ["no end", TYPE, text(`--${BOUNDARY}\r\nContent-Disposition: form-data; filename="a"\r\n\r\nbytes`)],
  ["no end of the head", TYPE, text(`--${BOUNDARY}\r\nX: y`)],
  ["an endless head", TYPE, text(`--${BOUNDARY}\r\n${"X: y\r\n".repeat(5000)}`)],
  [
    "a head that is too long",
    TYPE,
    text(`--${BOUNDARY}\r\n${"X: y\r\n".repeat(5000)}\r\nx\r\n--${BOUNDARY}--`),
  ],
  ["an endless field", TYPE, text(`--${BOUNDARY}\r\nX: y\r\n\r\n${"x".repeat(20_000)}\r\n--${BOUNDARY}--`)],
  ["much before the first part", TYPE, text(`${"x".repeat(20_000)}\r\n--${BOUNDARY}--`)],
  ["text after a boundary", TYPE, text(`--${BOUNDARY}xx`)],
  ["too many parts", TYPE, text(`${`--${BOUNDARY}\r\nX: y\r\n\r\n\r\n`.repeat(1002)}--${BOUNDARY}--`)],
];
for (const [what, type, body] of WRONG) {
  Deno.test(`formFiles() refuses ${what}`, async () => {
    await assert.rejects(read(body, type), { code: "ERR_INVALID_REQUEST" });
    await assert.rejects(read(streamed(body, [1000]), type), { code: "ERR_INVALID_REQUEST" });
  });
}

Deno.test("formFiles() cancels a form that its reader leaves, and ends when the sender knows", async () => {
  const bytes = formOf([{ name: "a", bytes: new Uint8Array(10_000) }]);
  const known = Promise.withResolvers<void>();
  let cancelled = false;
  const source = streamed(bytes, [100]).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await source.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      cancelled = true;
      return known.promise;
    },
  }, { highWaterMark: 0 });
  const files = formFiles(HeaderList.of({ "Content-Type": TYPE }), body);
  assert.equal((await files.next()).value?.name, "a");
  let left = false;
  const leaving = files.return().then(() => left = true);
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual([cancelled, left], [true, false]);
  known.resolve();
  await leaving;
});
