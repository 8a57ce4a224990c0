import assert from "node:assert/strict";
import results from "../../docs/reliability.json" with { type: "json" };
import { reliabilityPage } from "./reliability_page.ts";

Deno.test("docs/reliability.md shows the results in docs/reliability.json", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reliability.md", import.meta.url));
  assert.equal(page, reliabilityPage(results), "please run deno task test:long");
});
