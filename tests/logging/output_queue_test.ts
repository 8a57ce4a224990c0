import assert from "node:assert/strict";
import { OutputQueue } from "../../src/logging/output_queue.ts";
import { until } from "../fixtures/deadline.ts";

/** Writes a text. @returns Whether the queue accepted it. */
function takes(queue: OutputQueue, text: string): boolean {
  try {
    queue.write(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("OutputQueue writes whole texts, one after the other, in the order of the calls", async () => {
  let [text, writing, most] = ["", 0, 0];
  const queue = new OutputQueue({
    async write(bytes) {
      most = Math.max(most, ++writing);
      await new Promise((resolve) => setTimeout(resolve));
      writing--;
      const taken = bytes.subarray(0, 3);
      text += new TextDecoder().decode(taken);
      return taken.length;
    },
  });
  for (const each of ["first\n", "2\n", "3\n"]) queue.write(each);
  await queue.flush();
  assert.deepEqual([text, most], ["first\n2\n3\n", 1]);
});

for (
  const [what, bytes, waitMs] of [["takes nothing", 10, 1], ["leaves 8 MiB", 1024 ** 2, 60_000]] as const
) {
  Deno.test(`OutputQueue refuses texts while its reader ${what}, and writes those that it accepted`, async () => {
    let text = "";
    const free = Promise.withResolvers<void>();
    const queue = new OutputQueue({
      async write(bytes) {
        await free.promise;
        text += new TextDecoder().decode(bytes);
        return bytes.length;
      },
    }, waitMs);
    const taken: string[] = [];
    const next = () => `${taken.length}${"x".repeat(bytes)}\n`;
    await until(() => !takes(queue, next()) || !taken.push(next()), { everyMs: 1 });
    assert.throws(() => queue.write("refused\n"), /its reader is too slow/);
    free.resolve();
    await queue.flush();
    assert.equal(text, taken.join(""));
    queue.write("again\n");
    await queue.flush();
    assert.equal(text, `${taken.join("")}again\n`);
  });
}

Deno.test("OutputQueue keeps texts that it cannot write, refuses more, and tries again", async () => {
  let [text, isFull] = ["", true];
  const queue = new OutputQueue({
    async write(bytes) {
      await Promise.resolve();
      if (isFull && text !== "") throw new Error("no space");
      text += new TextDecoder().decode(bytes.subarray(0, 2));
      return 2;
    },
  }, 1);
  queue.write("one\n");
  await until(() => !takes(queue, ""), { everyMs: 1 });
  assert.throws(() => queue.write("refused\n"), /no space/);
  isFull = false;
  await queue.flush();
  queue.write("two\n");
  await queue.flush();
  assert.equal(text, "one\ntwo\n");
});
