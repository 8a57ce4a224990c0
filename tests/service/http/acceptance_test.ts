import assert from "node:assert/strict";
import { Acceptance } from "../../../src/service/http/acceptance.ts";

const table: [string | null, boolean, boolean][] = [
  [null, true, false],
  ["", true, false],
  ["*/*", true, false],
  ["application/json", true, false],
  ["application/*", true, false],
  ["text/plain", false, false],
  ["text/html", false, true],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true, true],
  ["application/json, text/html;q=0.5", true, false],
  ["text/html;q=0, */*", true, false],
  ["application/json;q=0", false, false],
  ["APPLICATION/JSON", true, false],
  ["nonsense", true, false],
  ["*/*;q=x", true, false],
  ["application/json;q=0, application/json", false, false],
];
for (const [header, json, html] of table) {
  Deno.test(`Accept: ${header} admits JSON: ${json}, prefers HTML: ${html}`, () => {
    assert.equal(new Acceptance(header).admits("application/json"), json);
    assert.equal(new Acceptance(header).prefersHtml, html);
  });
}
