import assert from "node:assert/strict";
import fc from "fast-check";
import { NoIdentity } from "../../src/authentication/check_identity.ts";
import { claimAt, fillIdentityTemplate, parseReply } from "../../src/authentication/claims.ts";
import { templateDiagnostic } from "../../src/model/name_template.ts";
import { canonicalDn, parseName } from "../../src/model/distinguished_name.ts";

const TEMPLATE = "CN=%sub%,OU=%a.b%,O=%iss%";
const fill = (claims: object, template = TEMPLATE) => {
  const variables = parseReply(JSON.stringify(claims));
  return fillIdentityTemplate(template, (path) => claimAt(variables, path));
};
const ANN = { sub: "ann", iss: "https://idp.example/realms/hpc", a: { b: "x" } };

Deno.test("fillIdentityTemplate() puts claims into a name, each as one escaped value", () => {
  assert.equal(fill(ANN), "CN=ann,OU=x,O=https://idp.example/realms/hpc");
  assert.equal(
    fill({ ...ANN, sub: "a,O=root+CN=b" }),
    "CN=a\\,^o\\=root\\+^c^n\\=b,OU=x,O=https://idp.example/realms/hpc",
  );
  assert.equal(fill({ ...ANN, sub: ["ann"] }), fill(ANN));
  assert.equal(
    fill({ ...ANN, sub: 1e21 }),
    "CN=1e+21,OU=x,O=https://idp.example/realms/hpc".replace("+", "\\+"),
  );
});

for (
  const [what, change] of Object.entries({
    "is missing": { sub: undefined },
    "is empty": { sub: "" },
    "is null": { sub: null },
    "has several values": { sub: ["ann", "bob"] },
    "is an object": { sub: { sub: "ann" } },
    "has blanks around it": { sub: " ann" },
    "has an invisible character": { sub: "an\u200bn" },
    "is written in full-width letters": { sub: "ａｎｎ" },
    "has a line break": { sub: "ann\nbob" },
    "has a Kelvin sign, which would be a capital K": { sub: "\u212aim" },
    "has a theta symbol, which would be a capital theta": { sub: "\u03f4" },
  })
) {
  Deno.test(`fillIdentityTemplate() gives no identity if a claim ${what}`, () => {
    assert.throws(() => fill({ ...ANN, ...change }), NoIdentity);
  });
}

Deno.test("fillIdentityTemplate() gives names with exactly the parts of the template, whatever the claims", () => {
  fc.assert(fc.property(fc.string(), (sub) => {
    try {
      assert.equal(parseName(fill({ ...ANN, sub })).length, 3);
    } catch (error) {
      assert.ok(error instanceof NoIdentity, String(error));
    }
  }));
});

Deno.test("templateDiagnostic() accepts any text", () => {
  assert.equal(templateDiagnostic(TEMPLATE, "sub"), undefined);
  for (const template of ["CN=%sub", "CN=ann", "%sub%", "CN=%%", "CN=%a b%", "CN=%sub%,"]) {
    assert.equal(typeof templateDiagnostic(template, "sub"), "string", template);
  }
  fc.assert(fc.property(fc.string(), (text) => void templateDiagnostic(text, "sub")));
});

Deno.test("fillIdentityTemplate() gives different names to different subjects, even if only their case differs", () => {
  const nameOf = (sub: string) => fill({ ...ANN, sub }, "CN=%sub%,O=%iss%");
  const names = [
    "eve",
    "EVE",
    "Eve",
    "^eve",
    "^Eve",
    "^^eve",
    "e^ve",
    "É",
    "é",
    "^É",
    "\u0130",
    "I\u0307",
    "^.",
  ].map(nameOf);
  assert.equal(new Set(names.map(canonicalDn)).size, names.length, names.join(" "));
  assert.equal(nameOf("eve"), "CN=eve,O=https://idp.example/realms/hpc");
  assert.equal(nameOf("Eve^"), "CN=^eve^^,O=https://idp.example/realms/hpc");
  const text = fc.string({ unit: fc.constantFrom(...["a", "A", "b", "B", "^", "1"]), minLength: 1 });
  fc.assert(fc.property(text, text, (one, other) => {
    assert.equal(canonicalDn(nameOf(one)) === canonicalDn(nameOf(other)), one === other);
  }));
  assert.equal(fill({ ...ANN, email: "Ann@B" }, "UID=%email%"), "UID=Ann@B", "of other claims case stays");
});
