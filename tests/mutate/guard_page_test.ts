import assert from "node:assert/strict";
import results from "../reports/guards.json" with { type: "json" };
import { guardPage, type GuardResults, PROTECTING } from "./guard_page.ts";

const ROOT = new URL("../../", import.meta.url);
const RESULTS: GuardResults = results;

Deno.test("tests/reports/guards.md shows the results in guards.json", async () => {
  const page = await Deno.readTextFile(new URL("tests/reports/guards.md", ROOT));
  assert.equal(page, guardPage(RESULTS), "please run deno task mutate --guards");
});

Deno.test("each guard that can be removed unnoticed has a reason, and its file protects somebody and is there", async () => {
  for (const [file, { survivors, guards, byTests, byCompiler }] of Object.entries(RESULTS)) {
    await Deno.stat(new URL(file, ROOT));
    assert(PROTECTING.some((part) => file === part || file.startsWith(`${part}/`)), file);
    assert.equal(byTests + byCompiler + survivors.length, guards, file);
    for (const line of survivors) {
      assert.match(line, / — \S/, "please give the reason in known_survivors.ts, or test it");
    }
  }
});

Deno.test("all that protects somebody is there", async () => {
  for (const part of PROTECTING) await Deno.stat(new URL(part, ROOT));
});

Deno.test("guardPage() has a row for each folder, and lists what was not noticed", () => {
  const result = { day: "2026-01-05", digest: "0", guards: 3, byTests: 2, byCompiler: 1 };
  const page = guardPage({
    "src/a/x.ts": { ...result, survivors: [] },
    "src/a/y.ts": { ...result, day: "2026-01-02", guards: 4, survivors: ["- `src/a/y.ts:2` — why"] },
    "src/a/b/z.ts": { ...result, survivors: [] },
  });
  assert.match(page, /^\| `src\/a` \| 2 \| 7 \| 4 \| 2 \| 1 \| 2026-01-02 \|\n\| `src\/a\/b` \| 1 \| 3 \|/m);
  assert.match(page, /## Not noticed\n\n- `src\/a\/y\.ts:2` — why\n/);
});
