import assert from "node:assert/strict";
import { HeaderList } from "../../src/model/http_message.ts";
import { readJson } from "../../src/resource/request_body.ts";

const MOST = 64 * 1024;
/** Returns JSON with this number of bytes. */
const json = (bytes: number) => new TextEncoder().encode(`"${"x".repeat(bytes - 2)}"`);

/** Returns a body in parts, and a record of how it is read. */
function bodyOf(parts: readonly Uint8Array[], { ends = true } = {}) {
  const seen = { given: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts[seen.given++];
      if (part !== undefined) controller.enqueue(part);
      else if (ends) controller.close();
      else return new Promise(() => {});
    },
    cancel() {
      seen.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { body, seen };
}

const read = (body: ReadableStream<Uint8Array>, length?: number, mostMs?: number) => {
  const headers = new HeaderList(length === undefined ? [] : ["Content-Length", String(length)]);
  return readJson({ headers, body }, mostMs);
};

Deno.test("readJson() reads a body of the maximum size, in parts or at once", async () => {
  const whole = json(MOST);
  const parts = [whole.subarray(0, 10), whole.subarray(10, 60_000), whole.subarray(60_000)];
  assert.equal(String(await read(bodyOf(parts).body)).length, MOST - 2);
  assert.equal(String(await readJson({ headers: new HeaderList([]), body: whole })).length, MOST - 2);
});

Deno.test("readJson() refuses one byte more, before reading if the length is known", async () => {
  const long = json(MOST + 1);
  const { body, seen } = bodyOf([long.subarray(0, MOST), long.subarray(MOST), new Uint8Array(10)]);
  await assert.rejects(read(body), { code: "ERR_BODY_TOO_LARGE" });
  assert.deepEqual(seen, { given: 2, cancelled: true });
  const announced = bodyOf([long]);
  await assert.rejects(read(announced.body, MOST + 1), { code: "ERR_BODY_TOO_LARGE" });
  assert.equal(announced.seen.given, 0);
  await assert.rejects(
    readJson({ headers: new HeaderList([]), body: long }),
    { code: "ERR_BODY_TOO_LARGE" },
  );
});

Deno.test("readJson() cancels a body that does not arrive in time", async () => {
  const { body, seen } = bodyOf([json(4)], { ends: false });
  await assert.rejects(read(body, undefined, 20), { code: "ERR_REQUEST_TIMEOUT" });
  assert(seen.cancelled);
});

Deno.test("readJson() refuses text that is not JSON", async () => {
  for (const text of ["", "{", "x"]) {
    await assert.rejects(read(bodyOf([new TextEncoder().encode(text)]).body), {
      code: "ERR_INVALID_REQUEST",
    });
  }
  const latin1 = Uint8Array.from('{"path": "/M\xfcll"}', (character) => character.charCodeAt(0));
  await assert.rejects(read(bodyOf([latin1]).body), { code: "ERR_INVALID_REQUEST" }, "not UTF-8");
  await assert.rejects(readJson({ headers: new HeaderList([]), body: null }), {
    code: "ERR_INVALID_REQUEST",
  });
});
