import assert from "node:assert/strict";
import { checkShownToken, FORM_TOKEN, ownBrowser, parseForm } from "../../src/resource/form.ts";
import { call } from "./sample_call.ts";

const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=${i}`).join("&");

Deno.test("parseForm() accepts up to fifty fields, each once", () => {
  assert.equal(parseForm(fields(50)).size, 50);
  assert.equal(parseForm("a=1+2&b=%26").get("b"), "&");
  for (const text of [fields(51), "&".repeat(50), "a=1&a=2"]) {
    assert.throws(() => parseForm(text), { code: "ERR_INVALID_REQUEST" }, text.slice(0, 20));
  }
});

Deno.test("checkShownToken() accepts only the token of the sign-in", () => {
  checkShownToken(new Map([[FORM_TOKEN, "right"]]).get(FORM_TOKEN), "right");
  checkShownToken("right", "right");
  for (const shown of ["", "righ", "wrong", null]) {
    assert.throws(() => checkShownToken(shown, "right"), { code: "ERR_PAGE_OUTDATED" });
  }
  assert.throws(() => checkShownToken(undefined, "right"), { code: "ERR_PAGE_OUTDATED" });
  assert.throws(() => ownBrowser(call()), { code: "ERR_PAGE_OUTDATED" });
});
