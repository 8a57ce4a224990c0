import assert from "node:assert/strict";
import { personName } from "../../src/pages/person_name.ts";

Deno.test("personName() returns the common name, or the whole name if it has none", () => {
  assert.equal(personName("CN=Ann Example, O=Site"), "Ann Example");
  assert.equal(personName("cn=ann\\, example,o=site"), "ann, example");
  assert.equal(personName("O=Site,C=EU"), "O=Site,C=EU");
  assert.equal(personName("no name"), "no name");
});
