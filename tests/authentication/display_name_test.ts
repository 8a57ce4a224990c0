import assert from "node:assert/strict";
import { Assignments } from "../../src/authentication/assignments.ts";
import type { Variables } from "../../src/authentication/expression/value.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { pageHeader } from "../../src/pages/header.ts";
import { call, USER } from "../resource/sample_call.ts";
import { assignments } from "./remote_subject.ts";

const nameOf = (claims: Readonly<Record<string, string>>, displayName?: string) => {
  const variables: Variables = new Map(Object.entries(claims));
  return new Assignments(assignments({ displayName }), SILENT).attributes(variables).displayName;
};

Deno.test("a display name comes from the expression, else from name, preferred_username or a verified e-mail address", () => {
  const all = {
    name: "Ann Example",
    preferred_username: "ann",
    email: "a@b.example",
    email_verified: "true",
  };
  assert.equal(nameOf(all), "Ann Example");
  const { name: _, ...nameless } = all;
  assert.equal(nameOf(nameless), "ann");
  const { preferred_username: _name, ...mail } = nameless;
  assert.equal(nameOf(mail), "a@b.example");
  assert.equal(nameOf({ ...mail, email_verified: "false" }), undefined);
  assert.equal(nameOf({}), undefined);
  assert.equal(nameOf(all, 'preferred_username+" of HPC"'), "ann of HPC");
  for (const bad of ["", "x".repeat(101), "a\u202eb", "a\nb"]) {
    assert.equal(nameOf({ name: bad }), undefined, bad);
  }
});

Deno.test("a mail address is used only if the provider says that it verified it", () => {
  const mailOf = (claims: Readonly<Record<string, string>>) =>
    new Assignments(assignments({}), SILENT).attributes(new Map(Object.entries(claims))).mail;
  const email = "a@b.example";
  assert.equal(mailOf({ email, email_verified: "true" }), email);
  for (const email_verified of ["false", "yes", "1", ""]) {
    assert.equal(mailOf({ email, email_verified }), undefined);
  }
  assert.equal(mailOf({ email }), undefined);
});

Deno.test("pageHeader() shows the display name beside the account, never in its place", () => {
  const identity = {
    dn: "CN=4e190850,O=https://idp.example",
    method: "OAUTH",
    via: "OIDC",
    displayName: "root",
  };
  const caller = { kind: "authenticated", identity } as const;
  const shown = (uid?: string) =>
    pageHeader({ ...call(), caller, user: { ...USER, uid } }, undefined).toString();
  assert.match(
    shown("ann"),
    /<div>Signed in as <strong><bdi>root<\/bdi><\/strong> \(<bdi>ann<\/bdi>\)<\/div>/,
  );
  assert.match(shown(), /<bdi>root<\/bdi><\/strong> \(<bdi>CN=4e190850,O=https:\/\/idp\.example<\/bdi>\)/);
});
