import assert from "node:assert/strict";
import { wantedPage } from "../../src/pages/sign_in_attempt.ts";

const PAGES: readonly (readonly [wanted: string | null, page: string])[] = [
  [null, ""],
  ["", ""],
  ["shares/HPC", "shares/HPC"],
  ["shared/HPC/abc/d%20e?sort=name&order=down", "shared/HPC/abc/d%20e?sort=name&order=down"],
  ["files/HPC/it's%20(2)*!/?find=a+b", "files/HPC/it's%20(2)*!/?find=a+b"],
  ["a".repeat(1000), "a".repeat(1000)],
  ["a".repeat(1001), ""],
  ["/shares", ""],
  ["//evil.example", ""],
  ["https://evil.example/", ""],
  ["https:evil.example", ""],
  ["javascript:alert(1)", ""],
  ["a\\b", ""],
  ["a b", ""],
  ["a#b", ""],
  ["a\n", ""],
  ["../admin", ""],
  ["a/../../b", ""],
  ["a/%2e%2e/%2e%2e/b", ""],
  ["a/../b", "a/../b"],
];
for (const [wanted, page] of PAGES) {
  Deno.test(`wantedPage() of ${JSON.stringify(wanted?.slice(0, 30) ?? null)} is ${page.slice(0, 30) || "the root"}`, () => {
    assert.equal(wantedPage(wanted), page);
  });
}
