import assert from "node:assert/strict";
import { ConnectionLimit } from "../../src/workers/serving_edge.ts";

/** Configured number, number of files that can be opened, and permitted connections. */
const cases: [number | undefined, number, number][] = [
  [undefined, 100_000, 4096],
  [undefined, 4096, 3840],
  [undefined, 1024, 768],
  [undefined, 100, 50],
  [0, 100_000, 16_384],
  [0, 10_000, 9_744],
  [500, 100_000, 500],
  [5000, 1024, 768],
  [50_000, 60_000, 50_000],
];
for (const [configured, files, expected] of cases) {
  Deno.test(`ConnectionLimit is ${expected} if ${configured ?? "nothing"} is configured and ${files} files can be open`, () => {
    const limit = new ConnectionLimit(configured, (wanted) => Math.min(files, wanted));
    assert.equal(limit.most(configured), expected);
  });
}

Deno.test("ConnectionLimit need not lower its default under the service unit", async () => {
  const unit = await Deno.readTextFile(new URL("../../conf/authserver.service", import.meta.url));
  const files = Number(/^LimitNOFILE=(\d+)$/m.exec(unit)?.[1]);
  const most = (configured?: number) =>
    new ConnectionLimit(configured, (wanted) => Math.min(files, wanted)).most(configured);
  assert.deepEqual([most(), most(0)], [4096, 16_384]);
});

Deno.test("ConnectionLimit also bounds a later configured number", () => {
  const limit = new ConnectionLimit(undefined, (wanted) => Math.min(1024, wanted));
  assert.equal(limit.most(2000), 768);
  assert.equal(limit.most(100), 100);
});

Deno.test("ConnectionLimit opens files to find the limit, and closes all of them", () => {
  const limit = new ConnectionLimit(10);
  assert.equal(limit.most(10), 10);
});

for (const files of ["300", "$(ulimit -Hn)"]) {
  Deno.test(`ConnectionLimit detects how many files the process can open: ${files}`, async () => {
    const module = JSON.stringify(new URL("../../src/workers/serving_edge.ts", import.meta.url));
    const code = `import { ConnectionLimit } from ${module};
      console.log(new ConnectionLimit(undefined).most(undefined));`;
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", `ulimit -n ${files} && exec "$@"`, "sh", Deno.execPath(), "eval", code],
    }).output();
    const found = Number(new TextDecoder().decode(stdout));
    // Some files are open already.
    if (files === "300") assert.ok(found > 100 && found <= 150, `${found}`);
    else assert.ok(found > 150 && found <= 4096, `${found}`);
  });
}
