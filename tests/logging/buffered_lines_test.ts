import assert from "node:assert/strict";
import { BufferedLines } from "../../src/logging/buffered_lines.ts";
import { Sink } from "../../src/logging/sink.ts";
import { createLogger } from "../../src/logging/logger.ts";

class Queue extends BufferedLines {
  retry() {}
  close = () => Promise.resolve(this.take());
}

function kept() {
  const log: string[] = [];
  const sink = new Sink("audit", createLogger((line) => log.push(line.slice(25))));
  return { log, sink, lines: new Queue("here", sink) };
}
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));

Deno.test("BufferedLines returns lines in order, first those that were put back", () => {
  const { lines, sink, log } = kept();
  lines.write(["1", "2"]);
  const taken = lines.take();
  lines.write(["3"]);
  lines.putBack(taken);
  assert.equal(lines.count, 3);
  assert.deepEqual(lines.take(), ["1", "2", "3"]);
  assert.deepEqual([lines.count, sink.failing, log.length], [0, false, 0]);
});

Deno.test("BufferedLines keeps 10,000 lines, drops the oldest, and reports once how many were lost", () => {
  const { lines, sink, log } = kept();
  lines.write(numbers(0, 10_000));
  assert.deepEqual([lines.count, sink.failing, log.length], [10_000, false, 0]);
  lines.write(numbers(10_000, 10_003));
  assert.deepEqual([lines.count, sink.failing], [10_000, true]);
  lines.failed(["first"], "still");
  const [first, second] = lines.take();
  assert.deepEqual([first, second], ["3", "4"], "what is put back first is given up first");
  assert.equal(log.length, 1);
  assert.match(
    log[0] ?? "",
    /^error audit lines not written to=here error="they are taken/,
  );
  sink.written();
  assert.equal(log[1], "warn  audit lines written again lost=4");
  sink.written();
  assert.deepEqual([log.length, sink.failing], [2, false]);
  lines.failed(["one"], "again");
  sink.written();
  assert.equal(log[3], "warn  audit lines written again lost=0", "those before were told");
});
