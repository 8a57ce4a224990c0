import assert from "node:assert/strict";
import { checkIdentity, NoIdentity } from "../../src/authentication/check_identity.ts";
import { sameName } from "../../src/model/distinguished_name.ts";

/** Names that count as the other one, though they are written with other characters. */
const LOOKALIKES: [string, string][] = [
  ["CN=\uFF21dmin", "CN=Admin"],
  ["CN=\u{1D4D0}dmin", "CN=admin"],
  ["UID=ann\uFF20site.example", "UID=ann@site.example"],
  ["CN=e\uFB01", "CN=efi"],
  ["CN=jame\u017F", "CN=james"],
  ["CN=\u212Aim", "CN=kim"],
  ["CN=a\u00B2", "CN=a2"],
];

for (const [name, other] of LOOKALIKES) {
  Deno.test(`checkIdentity() refuses ${name}, which would be ${other}`, () => {
    assert(sameName(name, other));
    assert.throws(() => checkIdentity(name), NoIdentity);
    assert.equal(checkIdentity(other), other);
  });
}

Deno.test("checkIdentity() takes names as people have them", () => {
  const names = [
    "Jürgen Groß",
    "Işıl Yıldız",
    "Mª Luz",
    "Ju\u0308rgen",
    "Zoë Łąck",
    "Ελένη Παπαδάκης",
    "Иван Ёлкин",
    "山﨑 愛",
    "ｶﾀｶﾅ",
    "O'Neil",
    "Anne\u00A0Marie",
  ];
  for (const name of names) assert.equal(checkIdentity(`CN=${name}, O=Site`), `CN=${name}, O=Site`);
});
