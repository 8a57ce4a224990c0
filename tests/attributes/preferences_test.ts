import assert from "node:assert/strict";
import fc from "fast-check";
import { parsePreferences } from "../../src/attributes/user_attributes.ts";
import { HttpError, isHttpError } from "../../src/model/http_error.ts";

Deno.test("parsePreferences() reads keys in any case, trims, and uses the last value", () => {
  for (
    const [headers, preferences] of [
      [[], {}],
      [[""], {}],
      [[" "], {}],
      [["uid:a1002,group:proj2,supgids:fast+lab"], {
        uid: "a1002",
        group: "proj2",
        supplementaryGroups: ["fast", "lab"],
      }],
      [["xlogin:a, pgid : b ,ROLE:admin"], { uid: "a", group: "b", role: "admin" }],
      [["SupplementaryGroups: a + b "], { supplementaryGroups: ["a", "b"] }],
      [["uid:a,", ",", " , group:b,,"], { uid: "a", group: "b" }],
      [["uid:a", "uid:b,group:c", "xlogin:d"], { uid: "d", group: "c" }],
    ] as const
  ) assert.deepEqual(parsePreferences(headers), preferences);
});

Deno.test("parsePreferences() refuses text that is not key:value", () => {
  for (
    const header of [
      "uid",
      "uid:",
      ":a",
      "uid:a:b",
      ":",
      "uid: ,group:b",
    ]
  ) {
    assert.throws(
      () => parsePreferences([header]),
      (error) => isHttpError(error, "ERR_INVALID_PREFERENCES") && error.status === 403,
      header,
    );
  }
});

Deno.test("parsePreferences() refuses keys that offer no choice", () => {
  for (const header of ["queue:a", "uid:a,colour:b", "__proto__:a", "gid:x"]) {
    assert.throws(
      () => parsePreferences([header]),
      (error) => isHttpError(error, "ERR_UNKNOWN_PREFERENCE") && error.status === 400,
      header,
    );
  }
});

Deno.test("parsePreferences() reads any text or throws an HttpError", () => {
  const text = fc.string({ unit: fc.constantFrom("uid", "role", ":", ",", "+", " ", "a", "\n") });
  fc.assert(fc.property(fc.array(text, { maxLength: 3 }), (headers) => {
    try {
      for (const value of Object.values(parsePreferences(headers))) assert.ok(value !== "");
    } catch (error) {
      assert.ok(error instanceof HttpError);
    }
  }));
});
