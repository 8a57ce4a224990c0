import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { Occasional } from "../../src/logging/occasional.ts";

Deno.test("Occasional writes twenty lines of a burst, and the number of omitted ones", () => {
  const lines: string[] = [];
  const occasional = new Occasional(createLogger((line) => lines.push(line)));
  for (let i = 0; i < 1000; i++) occasional.write("request refused", { number: i });
  assert.equal(lines.length, 20);
  assert.match(lines[0] ?? "", / info +request refused number=0$/);
  occasional.flush();
  occasional.flush();
  assert.equal(lines.length, 21);
  assert.match(lines[20] ?? "", / info +more of the same not listed lines=980$/);
});

Deno.test("Occasional reports even a single omitted line, and nothing if it omitted none", () => {
  const lines: string[] = [];
  const occasional = new Occasional(createLogger((line) => lines.push(line)));
  for (let i = 0; i < 20; i++) occasional.write("request refused", { number: i });
  occasional.flush();
  assert.equal(lines.length, 20);
  occasional.write("request refused", { number: 20 });
  occasional.flush();
  assert.match(lines[20] ?? "", / info +more of the same not listed lines=1$/);
});

Deno.test("Occasional restarts every ten seconds, and then reports omitted lines", () => {
  const [lines, time] = [new Array<string>(), { now: 0 }];
  const log = createLogger((line) => lines.push(line.replace(/^\S+ info +/, "")));
  const occasional = new Occasional(log, () => time.now);
  const write = (count: number) => {
    for (let i = 0; i < count; i++) occasional.write("refused", {});
    return lines.splice(0).join(" ");
  };
  const twenty = Array.from({ length: 20 }, () => "refused").join(" ");
  assert.equal(write(25), twenty);
  time.now = 9_999;
  assert.equal(write(2), "");
  time.now = 10_000;
  assert.equal(write(21), `more of the same not listed lines=7 ${twenty}`);
});
