import assert from "node:assert/strict";
import results from "../../docs/mutation.json" with { type: "json" };
import { mutationPage } from "./mutation_page.ts";

Deno.test("docs/mutation.md shows the results in docs/mutation.json", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/mutation.md", import.meta.url));
  assert.equal(page, mutationPage(results), "please run deno task mutate");
});

Deno.test("mutationPage() has a row for each folder, and lists survivors and equivalent ones apart", () => {
  const score = { day: "2026-01-05", seed: 1, mutants: 70, tried: 20, own: 18, killed: 19 };
  const page = mutationPage({
    b: {
      ...score,
      equivalent: ["- `src/b/x.ts:1` e — equivalent: why"],
      survivors: ["- `src/b/x.ts:2` s — so"],
    },
    a: { ...score, killed: 20, own: 20, equivalent: [], survivors: [] },
  });
  assert.match(
    page,
    /\| `a` \| 70 \| 20 \| 100 % \| 100 % \| 0 \| 1 \| 2026-01-05 \|\n\| `b` \| 70 \| 20 \| 90 % \| 95 % \| 1 \| 1 \|/,
  );
  assert.match(
    page,
    /## Survivors\n\n- `src\/b\/x\.ts:2` s — so\n\n## Equivalent\n\n- `src\/b\/x\.ts:1` e — why\n/,
  );
});
