import assert from "node:assert/strict";
import results from "../../docs/reliability.json" with { type: "json" };
import { inPlace, reliabilityPage } from "./reliability_page.ts";

Deno.test("docs/reliability.md shows the results in docs/reliability.json", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reliability.md", import.meta.url));
  assert.equal(page, reliabilityPage(results), "please run deno task test:long");
});

Deno.test("inPlace() replaces rows with the same names, and adds others, in order", () => {
  const row = (trial: string, outcome: string) => ({ trial, done: "once", outcome });
  assert.deepEqual(
    inPlace([row("c", "old"), row("a", "old")], [row("b", "new"), row("c", "new")]),
    [row("a", "old"), row("b", "new"), row("c", "new")],
  );
});

const TOLD: readonly (readonly [section: string, fault: RegExp])[] = [
  ["Certificates", /truststore is empty/],
  ["Certificates", /forged certificate/],
  ["Certificates", /without its key/],
  ["Process", /frozen for \d+ s/],
];
for (const [section, fault] of TOLD) {
  Deno.test(`docs/reliability.md shows the fault ${fault.source}`, () => {
    const row = results.faults.rows.find((row) => row.section === section && fault.test(row.fault));
    assert(row !== undefined, "please run deno task test:long faults");
  });
}

Deno.test("docs/reliability.md shows a full table", () => {
  assert(results.trials.rows.some(({ trial }) => /than the tables hold/.test(trial)));
});
