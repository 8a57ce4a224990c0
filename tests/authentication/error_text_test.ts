import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../fixtures/character.ts";
import { errorText } from "../../src/authentication/provider_answers.ts";

const answer = (body: string, headers: Record<string, string> = {}, status = 400) => ({
  status,
  headers,
  body,
});

const texts: readonly (readonly [what: string, Parameters<typeof answer>, expected: string])[] = [
  [
    "both members",
    ['{"error":"invalid_client","error_description":"Bad secret"}'],
    "invalid_client: Bad secret",
  ],
  ["the code alone", ['{"error":"invalid_client"}'], "invalid_client"],
  ["a challenge", [
    "<html>",
    { "www-authenticate": 'Bearer realm="x", error="invalid_token", error_description="The token expired"' },
  ], "invalid_token: The token expired"],
  ["members and a challenge", ['{"error":"a"}', { "www-authenticate": 'Bearer error="b"' }], "a"],
  ["a web page", ["<html>error</html>"], ""],
  ["members of other types", ['{"error":["x"],"error_description":{}}'], ""],
  ["a list", ["[1]"], ""],
  ["null", ["null"], ""],
  [
    "terminal control characters",
    [String.raw`{"error":"\u001b[2Jx\r\n\u202ey"}`],
    String.raw`\u001b[2Jx\u000d\u000a\u202ey`,
  ],
  ["a long text", [JSON.stringify({ error: "e".repeat(5000) })], `${"e".repeat(200)}…`],
  ["our secrets", ['{"error":"no","error_description":"token T0K.EN of s3cret"}'], "no: token *** of ***"],
  ["a successful status", ['{"error":"x"}', {}, 200], ""],
];
for (const [what, given, expected] of texts) {
  Deno.test(`errorText() of an answer with ${what}`, () => {
    assert.equal(errorText(answer(...given), ["T0K.EN", "s3cret", ""]), expected);
  });
}

Deno.test("errorText() is short and printable for any answer", () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTER }), fc.string({ unit: CHARACTER }), (error, challenge) => {
      const text = errorText(answer(JSON.stringify({ error }), { "www-authenticate": challenge }), [
        "secret",
      ]);
      assert.doesNotMatch(text, /[^\P{Cc}\t]|\p{Cf}/u);
      assert.ok(text.length <= 201 * 12);
    }),
  );
});
