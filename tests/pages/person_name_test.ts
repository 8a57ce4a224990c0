import assert from "node:assert/strict";
import { personName } from "../../src/pages/person_name.ts";

Deno.test("personName() is the common name, and all of a name that has none", () => {
  assert.equal(personName("CN=Ann Example, O=Site"), "Ann Example");
  assert.equal(personName("cn=ann\\, example,o=site"), "ann, example");
  assert.equal(personName("O=Site,C=EU"), "O=Site,C=EU");
  assert.equal(personName("no name"), "no name");
});
