import assert from "node:assert/strict";
import { longTextResponse, UnreadAnswers } from "../../src/resource/long_text.ts";
import type { HttpResponse } from "../../src/model/http_message.ts";

/** Returns `count` pieces of 1000 characters; `made` counts the pieces made so far. */
function source(count: number, character = "x") {
  const state = { made: 0, given: false };
  function* make() {
    try {
      for (; state.made < count; state.made++) yield character.repeat(1000);
    } finally {
      state.given = true;
    }
  }
  return { state, pieces: make() };
}

async function open(count: number, { unread = new UnreadAnswers(), bytes = 0, character = "x" } = {}) {
  const { state, pieces } = source(count, character);
  const response = await longTextResponse({ pieces, type: "text/plain", bytes }, unread, {
    headers: { Link: "<next>" },
  });
  return { response, state, unread };
}

/** Asserts that an answer is a stream, and returns its parts. */
function streamed({ body, headers }: HttpResponse) {
  assert.ok(body instanceof ReadableStream);
  return { body, headers, text: () => new Response(body).text() };
}

Deno.test("longTextResponse() sends a short answer whole, with its length", async () => {
  const { response } = await open(10, { character: "é" });
  assert.equal(typeof response.body, "string");
  assert.equal(response.headers.get("Content-Length"), "20000");
  assert.equal(response.headers.get("Link"), "<next>");
});

for (const character of ["x", "é", "\u{1F600}"]) {
  Deno.test(`longTextResponse() streams a long answer of ${character} in small pieces`, async () => {
    const { response, unread } = await open(500, { character });
    const { body, headers } = streamed(response);
    assert.equal(headers.get("Content-Length"), null);
    assert.equal(headers.get("Link"), "<next>");
    let text = "";
    const decoder = new TextDecoder("utf-8", { fatal: true });
    for await (const piece of body) {
      assert.ok(piece.length > 0 && piece.length <= 32 * 1024, `${piece.length} bytes`);
      text += decoder.decode(piece); // fails if a piece ends within a character
    }
    assert.equal(text, character.repeat(500_000));
    assert.equal(unread.bytes, 0);
  });
}

Deno.test("longTextResponse() produces only what its reader reads, and stops when the reader leaves", async () => {
  const { response, state, unread } = await open(1000);
  assert.ok(state.made < 80, `${state.made} pieces made for nobody`);
  const reader = streamed(response).body.getReader();
  await reader.read();
  assert.ok(state.made < 100);
  assert.ok(unread.bytes > 0);
  await reader.cancel();
  assert.equal(state.given, true);
  assert.equal(unread.bytes, 0);
});

Deno.test("longTextResponse() aborts the answer that was not read for longest when memory is short", async () => {
  const unread = new UnreadAnswers(10_000_000);
  const setting = { unread, bytes: 4_000_000 };
  const first = await open(100, setting);
  const second = await open(100, setting);
  const reader = streamed(first.response).body.getReader();
  await reader.read();
  const third = await open(100, setting);
  assert.ok(unread.bytes <= 10_000_000);
  await assert.rejects(streamed(second.response).text(), /not read for too long/);
  assert.equal((await streamed(third.response).text()).length, 100_000);
  for (let done = false; !done;) done = (await reader.read()).done;
  assert.equal(unread.bytes, 0);
});

Deno.test("longTextResponse() fails before the answer begins, or aborts it", async () => {
  async function* failing(after: number) {
    for (let i = 0; i < after; i++) yield await Promise.resolve("x".repeat(1000));
    throw new Error("store is gone");
  }
  const ask = (after: number) =>
    longTextResponse({ pieces: failing(after), type: "text/plain", bytes: 0 }, new UnreadAnswers());
  await assert.rejects(ask(10), /store is gone/);
  await assert.rejects(streamed(await ask(100)).text(), /store is gone/);
});
