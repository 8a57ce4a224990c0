import assert from "node:assert/strict";
import { checkIdentity, NoIdentity } from "../../src/authentication/check_identity.ts";
import fc from "fast-check";
import { canonicalDn, escapeNameValue, sameName } from "../../src/model/distinguished_name.ts";
import { ANONYMOUS_DN } from "../../src/model/identity.ts";
import { CHARACTER, isInEmptyPlane } from "../fixtures/character.ts";
import { LONG } from "../long/results.ts";

/** Names with other characters that compare as equal to the second name. */
const LOOKALIKES: [string, string][] = [
  ["CN=\uFF21dmin", "CN=Admin"],
  ["CN=\u{1D4D0}dmin", "CN=admin"],
  ["UID=ann\uFF20site.example", "UID=ann@site.example"],
  ["CN=e\uFB01", "CN=efi"],
  ["CN=jame\u017F", "CN=james"],
  ["CN=\u212Aim", "CN=kim"],
  ["CN=a\u00B2", "CN=a2"],
  ["CN=M\u00AA", "CN=Ma"],
  ["CN=\uFF76\uFF85", "CN=\u30AB\u30CA"],
  ["CN=Anne\u00A0Marie", "CN=Anne Marie"],
  ["CN=Anne  Marie", "CN=Anne Marie"],
  ["CN=\\ Anne", "CN=Anne"],
  ["CN=Anne\\ ", "CN=Anne"],
  ["CN= Anne", "CN=Anne"],
  ["CN=Anne ", "CN=Anne"],
  [" CN=Anne", "CN=Anne"],
  ["CN=Anne\n", "CN=Anne"],
  ["CN =Anne", "CN=Anne"],
  ["CN=Anne ,O=Site", "CN=Anne,O=Site"],
  ["CN=Anne,  O=Site", "CN=Anne,O=Site"],
  ["CN=Anne,\tO=Site", "CN=Anne,O=Site"],
  ["CN=Anne + O=Site", "CN=Anne+O=Site"],
];

for (const [name, other] of LOOKALIKES) {
  Deno.test(`checkIdentity() refuses ${name}, which compares as equal to ${other}`, () => {
    assert(sameName(name, other));
    assert.throws(() => checkIdentity(name), NoIdentity);
    assert.equal(checkIdentity(other), other);
  });
}

Deno.test("checkIdentity() accepts real names of people", () => {
  const names = [
    "Jürgen Groß",
    "Işıl Yıldız",
    "Ju\u0308rgen",
    "Zoë Łąck",
    "Ελένη Παπαδάκης",
    "Иван Ёлкин",
    "山﨑 愛",
    "カタカナ",
    "O'Neil",
    "Anne Marie",
    "Nguyễn Thị",
    "Nguyê\u0303n",
    "\u{20BB7}野家",
  ];
  for (const name of names) assert.equal(checkIdentity(`CN=${name}, O=Site`), `CN=${name}, O=Site`);
});

Deno.test("checkIdentity() refuses the name of anonymous callers", () => {
  for (const name of [ANONYMOUS_DN, "cn=anonymous, o=unknown, ou=unknown"]) {
    assert.throws(() => checkIdentity(name), NoIdentity);
  }
});

Deno.test("checkIdentity() refuses invisible characters at any position", () => {
  const hidden = [
    "\u00AD", // soft hyphen
    "\u034F", // combining grapheme joiner
    "\u061C\u200E\u202E\u2066\u2069", // directions
    "\u115F\u1160\u3164\uFFA0", // Hangul fillers
    "\u180B\u180E\u17B4\uFE00\uFE0F\u{E0100}\u{E01EF}", // variation selectors and the like
    "\u200B\u200C\u200D\u2060\u2064\uFEFF", // zero width
    "\u{E0001}\u{E0020}\u{E0061}\u{E007F}", // tags
    "\uFFF9\uFFFB\u{1D173}\u{13430}\uE000\u{10FFFF}\u0378", // control, private, unassigned
  ];
  for (const character of hidden.join("")) {
    for (const value of [`${character}demo@x`, `de${character}mo@x`, `demo@x${character}`]) {
      assert.throws(() => checkIdentity(`UID=${value}`), NoIdentity, escape(value));
    }
  }
});

/** Yields all characters of Unicode, in groups. Only long tests try those of empty planes, which have no other forms. */
function* unicode(): Iterable<readonly string[]> {
  for (let first = 0; first <= 0x10ffff; first += 256) {
    if (first >= 0xd800 && first <= 0xdfff) continue;
    if (!LONG && isInEmptyPlane(first)) continue;
    yield Array.from({ length: 256 }, (_, i) => String.fromCodePoint(first + i));
  }
}

/** Returns characters of a group that the comparison changes: only these can make two names equal. */
function changing(group: readonly string[]): readonly string[] {
  const form = (characters: readonly string[]) => canonicalDn(`UID=${escapeNameValue(characters.join("x"))}`);
  if (form(group) === `uid=${group.join("x")}`) return [];
  return group.filter((character) => form(["", character, ""]) !== `uid=x${character}x`);
}

/** Name with letters that have several upper or lower case forms, such as `k` and `s`. */
const NAME = "kim oss@x";

Deno.test("over all of Unicode, checkIdentity() accepts no name that compares as equal to another, except by letter case", () => {
  const form = canonicalDn(`UID=${NAME}`);
  const reached = new Set<string>();
  for (const character of Iterator.from(unicode()).flatMap(changing)) {
    const variants = [
      `${character}${NAME}`,
      `ki${character}m oss@x`,
      `${NAME}${character}`,
      `${character}im oss@x`,
      `k${character}m oss@x`,
      `kim${character}oss@x`,
      `kim o${character}@x`,
      `kim os${character}@x`,
      `kim oss${character}x`,
    ];
    for (const value of variants) {
      if (canonicalDn(`UID=${escapeNameValue(value)}`) !== form) continue;
      try {
        checkIdentity(`UID=${escapeNameValue(value)}`);
        reached.add(value);
      } catch (error) {
        assert(error instanceof NoIdentity, escape(value));
      }
    }
  }
  // Only the case of plain letters differs.
  assert.deepEqual([...reached].sort(), ["Kim oss@x", "kIm oss@x", "kim osS@x"]);
});

Deno.test("accepted names that compare as equal differ only in case and composition", () => {
  const near = fc.constantFrom(
    ..."kKiIsSaA o.\u00DF\u1E9E\u0131\u0130\u017F\u212A\u03C3\u03C2\u03A3\u0345\u1F80e\u0301\u00E9\u1C80\u0432\uFB01\uFF41\u00A0\u3000\u200B\u01C4\u01C5\u0149\u1E9B\u212B\u00C5",
  );
  const text = fc.string({ unit: fc.oneof(near, near, CHARACTER), minLength: 1, maxLength: 4 });
  const accepted = (value: string) => {
    const name = `CN=${escapeNameValue(value)}`;
    try {
      return checkIdentity(name);
    } catch (error) {
      assert(error instanceof NoIdentity);
      return undefined;
    }
  };
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [one, other] = [accepted(a), accepted(b)];
      if (one === undefined || other === undefined || !sameName(one, other)) return;
      assert.equal(a.normalize("NFC").toLowerCase(), b.normalize("NFC").toLowerCase());
    }),
    { numRuns: LONG ? 20_000 : 5_000 },
  );
});
