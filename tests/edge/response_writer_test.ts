import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import fc from "fast-check";
import { AnswerText, sendText } from "../../src/edge/response_writer.ts";
import { HeaderList, type HttpResponse } from "../../src/model/http_message.ts";

const KEPT = ["Keep-Alive", "timeout=5"];

function answerOf(status: number, fields: readonly string[], body: string): HttpResponse {
  const length = ["Content-Length", String(Buffer.byteLength(body))];
  return { status, headers: new HeaderList([...fields, ...length]), body };
}

/** Returns the head lines in order of their names, and the body. */
function taken(bytes: string): { lines: string[]; body: string } {
  const end = bytes.indexOf("\r\n\r\n");
  const [status = "", ...lines] = bytes.slice(0, end).split("\r\n");
  const known = lines.map((line) => line.replace(/^date: .*/i, "Date")).sort();
  return { lines: [status, ...known], body: bytes.slice(end + 4) };
}

/** Sends an answer twice, the second time only by `node:http`, and returns what a client reads. */
async function both(answer: HttpResponse): Promise<readonly [ours: string, theirs: string]> {
  const texts = new AnswerText(KEPT);
  const { status, headers, body } = answer;
  const { promise: port, resolve: listening } = Promise.withResolvers<number>();
  const server = createServer({ keepAliveTimeout: 0 }, ({ url }, response) => {
    const text = texts.of(answer);
    assert(text !== undefined);
    if (url === "/ours") assert(sendText(response, text));
    else if (url === "/last") response.writeHead(204, { Connection: "close" }).end();
    else response.writeHead(status, [...headers.fields, ...KEPT]).end(body);
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    listening(typeof address === "object" ? address?.port ?? 0 : 0);
  });
  try {
    return [await read(await port, "/ours"), await read(await port, "/theirs")];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns all bytes of an answer, after a check that another request on the connection is answered. */
async function read(port: number, path: string): Promise<string> {
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const last = `GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const socket = connect(port, "127.0.0.1");
  let bytes = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.setEncoding("latin1").on("close", () => resolve());
  socket.on("data", (more: string) => {
    bytes += more;
  });
  socket.write(request + last);
  await promise;
  const second = bytes.lastIndexOf("HTTP/1.1 204");
  assert(second > 0, "one answer is missing");
  return bytes.slice(0, second);
}

const NAME = fc.stringMatching(/^X-[A-Za-z]{1,8}$/);
const VALUE = fc.stringMatching(/^[!-~](?:[ -~]{0,20}[!-~])?$/);

Deno.test("AnswerText writes the same as node:http, and the connection stays usable", async () => {
  const ANSWER = fc.record({
    status: fc.constantFrom(200, 201, 207, 400, 401, 404, 503),
    fields: fc.uniqueArray(fc.tuple(NAME, VALUE), { maxLength: 6, selector: ([name]) => name.toLowerCase() }),
    body: fc.stringMatching(/^[\n -~]{1,200}$/),
  });
  await fc.assert(
    fc.asyncProperty(ANSWER, async ({ status, fields, body }) => {
      const [ours, theirs] = await both(answerOf(status, fields.flat(), body));
      assert.deepEqual(taken(ours), taken(theirs));
    }),
    { numRuns: 30 },
  );
});

Deno.test("AnswerText has the current date", () => {
  const before = Math.floor(Date.now() / 1000) * 1000;
  const [, date = ""] = /\r\nDate: (.*)\r\n/.exec(new AnswerText(KEPT).of(answerOf(200, [], "a")) ?? "") ??
    [];
  const told = Date.parse(date);
  assert(told >= before && told <= Date.now(), date);
  assert.equal(new Date(told).toUTCString(), date);
});

for (
  const [what, answer] of Object.entries({
    "no body": { status: 200, headers: HeaderList.of({ "Content-Length": "0" }), body: null },
    "bytes": { status: 200, headers: HeaderList.of({ "Content-Length": "1" }), body: new Uint8Array(1) },
    "no length": { status: 200, headers: new HeaderList(), body: "a" },
    "another length": { status: 200, headers: HeaderList.of({ "Content-Length": "2" }), body: "a" },
    "multi-byte letters": answerOf(200, [], "\u00e4"),
    "an unknown status": answerOf(299, [], "a"),
    "a line end in a value": answerOf(200, ["X", "a\r\nSet-Cookie: b"], "a"),
    "a line feed in a value": answerOf(200, ["X", "a\nb"], "a"),
    "NUL in a value": answerOf(200, ["X", "a\0"], "a"),
    "a multi-byte letter in a value": answerOf(200, ["X", "\u20ac"], "a"),
    "a letter beyond ASCII in a value": answerOf(200, ["X", "\u00e4"], "a"),
  })
) {
  Deno.test(`AnswerText leaves answers with ${what} to node:http`, () => {
    assert.equal(new AnswerText(KEPT).of(answer), undefined);
  });
}

Deno.test("sendText() sends nothing after a head, or if the runtime lacks the field for it", () => {
  const made = () => new ServerResponse(new IncomingMessage(new Socket()));
  const begun = made();
  begun.writeHead(204);
  assert.equal(sendText(begun, "HTTP/1.1 200 OK\r\n\r\n"), false);
  const other = made();
  assert(Reflect.deleteProperty(other, "_header"));
  assert.equal(sendText(other, "HTTP/1.1 200 OK\r\n\r\n"), Reflect.has(other, "_header"));
});

Deno.test("AnswerText has the current second in later calls", () => {
  let now = Date.parse("2026-01-05T09:15:00.000Z");
  const texts = new AnswerText(KEPT, () => now);
  const dates: (string | undefined)[] = [];
  for (const later of [0, 999, 1, 999, 1, 3_600_000]) {
    now += later;
    dates.push(
      /\r\nDate: [^,]+, 05 Jan 2026 ([\d:]+) GMT\r\n/.exec(texts.of(answerOf(200, [], "x")) ?? "")?.[1],
    );
  }
  assert.deepEqual(dates, ["09:15:00", "09:15:00", "09:15:01", "09:15:01", "09:15:02", "10:15:02"]);
});
