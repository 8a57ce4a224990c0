import assert from "node:assert/strict";
import fc from "fast-check";
import { ControlConnection } from "../../../src/daemon/session/control_connection.ts";
import { GuardedSocket } from "../../../src/daemon/session/guarded_socket.ts";
import { ReplyReader } from "../../../src/daemon/session/reply_reader.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import { CHARACTER } from "../../fixtures/character.ts";

/** Reads replies from a stream of these pieces. @returns Replies and errors. */
async function readReplies(pieces: readonly Uint8Array[], count: number): Promise<unknown[]> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    connection.setNoDelay(true);
    // A client that gave up resets the connection.
    for (const piece of pieces) await connection.write(piece).catch(() => 0);
  })();
  const signal = new AbortController().signal;
  const socket = await GuardedSocket.connect("127.0.0.1", listener.addr.port, 1000, signal);
  const control = new ControlConnection(socket, 1000);
  const results: unknown[] = [];
  for (let i = 0; i < count; i++) {
    results.push(await control.readReply().catch((error: unknown) => error));
  }
  socket.close();
  await serving;
  listener.close();
  return results;
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("ControlConnection reads replies of one or more lines, in any pieces", async () => {
  const text = "220 hello ä\n250- Listing\n a\n  b\n250 End\r\n211-x\n211 y\n250- Listing\n500 gone\n";
  const expected = [
    { code: 220, text: "hello ä", inner: [] },
    { code: 250, text: "End", inner: ["a", " b"] },
    { code: 211, text: "y", inner: [] },
    { code: 500, text: "gone", inner: [] },
  ];
  assert.deepEqual(await readReplies([bytes(text)], 4), expected);
  assert.deepEqual(await readReplies([...bytes(text)].map((byte) => Uint8Array.of(byte)), 4), expected);
});

Deno.test("ControlConnection sends an empty line before each part of a reply except the first, after the login", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using connection = await listener.accept();
    const heard = async () => {
      const line = new Uint8Array(100);
      return new TextDecoder().decode(line.subarray(0, await connection.read(line) ?? 0));
    };
    // Sends each line only after the client acknowledged the last one.
    const lines: string[] = [];
    for (const line of ["331 a\n", "250- Listing\n", " entry\n", "250 End\n", "226 done\n"]) {
      lines.push(await heard());
      await connection.write(bytes(line));
    }
    return lines;
  })();
  const signal = new AbortController().signal;
  const socket = await GuardedSocket.connect("127.0.0.1", listener.addr.port, 1000, signal);
  const control = new ControlConnection(socket, 5000);
  await control.command("USER a");
  control.isLoggedIn = true;
  assert.deepEqual(await control.command("MLST b"), { code: 250, text: "End", inner: ["entry"] });
  assert.equal((await control.readReply()).code, 226);
  assert.deepEqual(await served, ["USER a\n", "MLST b\n", "\n", "\n", "\n"]);
  socket.close();
  listener.close();
});

const BROKEN = [
  "",
  "220 no line end",
  "hello\n",
  "22 x\n",
  "999 x\n",
  "220\n",
  "250- a\nb\n250 End\n",
  "250- a\n251 End\n",
  "250- a\n b\n",
  "\n",
  " 250 x\n",
];

for (const text of BROKEN) {
  Deno.test(`ControlConnection refuses ${JSON.stringify(text)}`, async () => {
    assert.ok(isHttpError((await readReplies([bytes(text)], 1))[0], "ERR_DAEMON_SESSION"));
  });
}

Deno.test("ControlConnection refuses bytes that are not UTF-8", async () => {
  assert.ok(
    isHttpError(
      (await readReplies([Uint8Array.of(0x32, 0x32, 0x30, 0x20, 0xff, 0x0a)], 1))[0],
      "ERR_DAEMON_SESSION",
    ),
  );
});

Deno.test("ControlConnection returns replies or its own error for any bytes", async () => {
  const line = fc.oneof(
    fc.constantFrom("220 ok\n", "250- x\n", " inner\n", "250 End\n", "\r\n", "250-", "\u0000"),
    fc.string({ unit: CHARACTER, maxLength: 8 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (lines) => {
      for (const result of await readReplies(lines.map(bytes), 3)) {
        assert.ok(
          isHttpError(result, "ERR_DAEMON_SESSION") ||
            (typeof result === "object" && result !== null && "code" in result),
        );
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("ControlConnection limits the time of a whole reply, however small its pieces", async () => {
  let now = 0;
  const asked: number[] = [];
  const reader = new ReplyReader({
    read: (into, ms) => {
      asked.push(ms);
      now += 300;
      if (ms === 0) return Promise.reject(new Error("late"));
      into[0] = 0x32;
      return Promise.resolve(1);
    },
    fail: () => {},
  }, () => now);
  await assert.rejects(reader.read(1000), /late/);
  assert.deepEqual(asked, [1000, 700, 400, 100, 0]);
});
