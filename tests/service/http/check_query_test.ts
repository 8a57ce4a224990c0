import assert from "node:assert/strict";
import { isHttpError } from "../../../src/model/http_error.ts";
import { checkQuery } from "../../../src/service/http/check_query.ts";
import { flag, integer, text } from "../../../src/service/http/openapi/schema.ts";

const DECLARED = {
  lifetime: integer("Seconds", { minimum: 1, maximum: 100 }),
  limited: flag("Limited"),
  after: text("Name"),
};

for (const query of ["", "lifetime=1", "lifetime=100&limited=TRUE", "limited=false&after=", "after=%00"]) {
  Deno.test(`checkQuery() takes "${query}"`, () => checkQuery(new URLSearchParams(query), DECLARED));
}

const refused: [string, RegExp][] = [
  ["lifetme=1", /unknown query parameter, expected lifetime, limited, after/],
  ["Limited=true", /unknown query parameter/],
  ["__proto__=1", /unknown query parameter/],
  ["lifetime=1&lifetime=1", /lifetime: expected once/],
  ["limited=true&limited=false", /limited: expected once/],
  ["lifetime=", /lifetime: expected a whole number from 1 to 100/],
  ["lifetime=0", /lifetime/],
  ["lifetime=101", /lifetime/],
  ["lifetime=1e1", /lifetime/],
  ["lifetime=%201", /lifetime/],
  ["lifetime=9999999999999999", /lifetime/],
  ["limited=", /limited: expected true or false/],
  ["limited=yes", /limited/],
];
for (const [query, expected] of refused) {
  Deno.test(`checkQuery() refuses "${query}"`, () => {
    assert.throws(() => checkQuery(new URLSearchParams(query), DECLARED), (error) => {
      assert(isHttpError(error, "ERR_INVALID_REQUEST"));
      assert.match(error.publicMessage, expected);
      return true;
    });
  });
}

Deno.test("checkQuery() takes anything where nothing is declared", () => {
  checkQuery(new URLSearchParams("a=1&a=2"), undefined);
});
