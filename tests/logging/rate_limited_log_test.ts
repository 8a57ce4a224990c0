import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { RateLimitedLog } from "../../src/logging/rate_limited_log.ts";

Deno.test("RateLimitedLog writes twenty lines of a burst, and the number of omitted ones", () => {
  const lines: string[] = [];
  const limited = new RateLimitedLog(createLogger((line) => lines.push(line)));
  for (let i = 0; i < 1000; i++) limited.write("request refused", { number: i });
  assert.equal(lines.length, 20);
  assert.match(lines[0] ?? "", / info +request refused number=0$/);
  limited.flush();
  limited.flush();
  assert.equal(lines.length, 21);
  assert.match(lines[20] ?? "", / info +more of the same not listed lines=980$/);
});

Deno.test("RateLimitedLog reports even a single omitted line, and nothing if it omitted none", () => {
  const lines: string[] = [];
  const limited = new RateLimitedLog(createLogger((line) => lines.push(line)));
  for (let i = 0; i < 20; i++) limited.write("request refused", { number: i });
  limited.flush();
  assert.equal(lines.length, 20);
  limited.write("request refused", { number: 20 });
  limited.flush();
  assert.match(lines[20] ?? "", / info +more of the same not listed lines=1$/);
});

Deno.test("RateLimitedLog restarts every ten seconds, and then reports omitted lines", () => {
  const [lines, time] = [new Array<string>(), { now: 0 }];
  const log = createLogger((line) => lines.push(line.replace(/^\S+ info +/, "")));
  const limited = new RateLimitedLog(log, () => time.now);
  const write = (count: number) => {
    for (let i = 0; i < count; i++) limited.write("refused", {});
    return lines.splice(0).join(" ");
  };
  const twenty = Array.from({ length: 20 }, () => "refused").join(" ");
  assert.equal(write(25), twenty);
  time.now = 9_999;
  assert.equal(write(2), "");
  time.now = 10_000;
  assert.equal(write(21), `more of the same not listed lines=7 ${twenty}`);
});
