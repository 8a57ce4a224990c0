import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalDn,
  escapeNameValue,
  foldCharacters,
  hasLooseBlanks,
  InvalidName,
  MAX_NAME_LENGTH,
  parseName,
  sameName,
} from "../../src/model/distinguished_name.ts";
import { CHARACTER, isInEmptyPlane } from "../fixtures/character.ts";
import { LONG } from "../long/results.ts";

/** Texts with their canonical DN by credentials.md 7.9 and rest-api.md 2.6. */
const FORMS: readonly (readonly [string, string])[] = [
  ["", ""],
  ["CN=Ann Example, OU=Lab 2, O=Site-A, C=DE", "cn=ann example,ou=lab 2,o=site-a,c=de"],
  ["cn=ann   example,ou=LAB 2 ,o=site-a, c=de", "cn=ann example,ou=lab 2,o=site-a,c=de"],
  ["C=DE,O=Site-A,OU=Lab 2,CN=Ann Example", "c=de,o=site-a,ou=lab 2,cn=ann example"],
  ["CN=Demo User, O=UNICORE, C=EU", "cn=demo user,o=unicore,c=eu"],
  ["cn=demo  user,o=unicore ,c=eu", "cn=demo user,o=unicore,c=eu"],
  ["CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", "cn=anonymous,o=unknown,ou=unknown"],
  ["OU=x+CN=ann", "cn=ann+ou=x"],
  ["CN=ann+OU=x", "cn=ann+ou=x"],
  ["OU=b+OU=a+CN=z", "cn=z+ou=a+ou=b"],
  ["SERIALNUMBER=1+CN=x", "cn=x+2.5.4.5=#130131"],
  ['CN="Foo, Bar",C=DE', "cn=foo\\, bar,c=de"],
  ["CN=Foo\\, Bar,C=DE", "cn=foo\\, bar,c=de"],
  ["CN=Foo\\2C Bar,C=DE", "cn=foo\\, bar,c=de"],
  ["UID=Ann@Site-A.example", "uid=ann@site-a.example"],
  ["UID=ann\\+x@site-a.example", "uid=ann\\+x@site-a.example"],
  ["2.5.4.3=Foo", "cn=foo"],
  ["OID.2.5.4.3=Foo", "cn=foo"],
  ["oid.2.5.4.3 = Foo", "cn=foo"],
  ["CN=#0c03466f6f", "cn=foo"],
  ["CN=#1303466F6F", "cn=foo"],
  ["CN=#1603466f6f", "cn=#1603466f6f"],
  ["GIVENNAME=Jo,C=DE", "2.5.4.42=#13024a6f,c=de"],
  ["GN=Jo,C=DE", "2.5.4.42=#13024a6f,c=de"],
  ["DC=Example,DC=ORG", "dc=#16076578616d706c65,dc=#16036f7267"],
  ["DC=foo,DC=Bar", "dc=#1603666f6f,dc=#1603626172"],
  ["dc=#1603464F4F", "dc=#1603666f6f"],
  ["EMAILADDRESS=Foo@Bar.com,CN=x", "1.2.840.113549.1.9.1=#160b666f6f406261722e636f6d,cn=x"],
  ["E=foo@bar.COM,CN=x", "1.2.840.113549.1.9.1=#160b666f6f406261722e636f6d,cn=x"],
  ["SERIALNUMBER=AbC,CN=x", "2.5.4.5=#1303416243,cn=x"],
  ["T=Dr,CN=x", "2.5.4.12=#13024472,cn=x"],
  ["T=Größe", "2.5.4.12=#0c074772c3b6c39f65"],
  ["CN=Müller,C=DE", "cn=mu\u0308ller,c=de"],
  ["CN=Mu\u0308ller,C=DE", "cn=mu\u0308ller,c=de"],
  ["CN=M\\C3\\BCller,C=DE", "cn=mu\u0308ller,c=de"],
  ["CN=é", "cn=e\u0301"],
  ["CN=ß", "cn=ß"],
  ["CN=ﬁx", "cn=fix"],
  ["CN=STRAẞE", "cn=straße"],
  ["CN=a\\=b", "cn=a=b"],
  ["CN=a=b", "cn=a=b"],
  ["CN=\\#1", "cn=\\#1"],
  ["CN=a#1", "cn=a#1"],
  ["CN=\\ a\\ ,C=DE", "cn=a,c=de"],
  ['CN="say \\"hi\\""', 'cn=say \\"hi\\"'],
  ["CN=x;C=DE", "cn=x,c=de"],
  ["S=Hessen,ST=Hessen", "st=hessen,st=hessen"],
  ["STREET=Am  Weg 1,L=Ort", "street=am weg 1,l=ort"],
  ["CN=", "cn="],
  ["CN=,O=x", "cn=,o=x"],
  ["CN=a\\0Ab", "cn=a b"],
  ["CN=a\\00b", "cn=a\\00b"],
];

/** Pairs of names that are the same, and pairs that are not. */
const PAIRS: readonly (readonly [boolean, string, string])[] = [
  [true, "CN=a", "cn=A"],
  [true, "CN=a,O=b", "CN=a, O=b"],
  [true, "CN=a,O=b", " CN = a ,\tO = b "],
  [true, "CN=a,O=b", "CN=a;O=b"],
  [true, "CN=a b", "CN=a   b"],
  [true, "CN=a b", 'CN="a b"'],
  [true, "CN=a b", "CN=\\ a b\\ "],
  [true, "CN=a\\,b", 'CN="a,b"'],
  [true, "CN=a\\,b", "CN=a\\2cb"],
  [true, "CN=a\\;b", 'CN="a;b"'],
  [true, "CN=a\\+b", 'CN="a+b"'],
  [true, "CN=a\\<b\\>", "CN=a<b>"],
  [true, "CN=a\\=b", "CN=a=b"],
  [true, "CN=a\\\\b", 'CN="a\\\\b"'],
  [true, "CN=a\\\\b", "CN=a\\5Cb"],
  [true, 'CN=a\\"b', 'CN="a\\"b"'],
  [true, "CN=\\#a", 'CN="#a"'],
  [true, "CN=a+OU=b,C=x", "OU=b + CN=a,C=x"],
  [true, "ST=a", "S=a"],
  [true, "UID=a", "0.9.2342.19200300.100.1.1=a"],
  [true, "UID=a", "userid=a"],
  [true, "E=a@b", "EMAIL=A@B"],
  [true, "E=a@b", "emailAddress=a@b"],
  [true, "DC=Foo", "dc=foo"],
  [true, "O=Köln", "O=Ko\u0308ln"],
  [true, "O=STRAẞE", "O=Straße"],
  [false, "O=STRASSE", "O=Straße"],
  [false, "CN=admin", "CN=admın"],
  [true, "CN=Ａnn", "CN=ann"],
  [true, "CN=a\u00a0b", "CN=a b"],
  [true, "SN=Doe", "SURNAME=Doe"],
  [false, "CN=a", "CN=b"],
  [false, "CN=a", "O=a"],
  [false, "CN=a,O=b", "O=b,CN=a"],
  [false, "CN=a,O=b", "CN=a+O=b"],
  [false, "CN=a,O=b", "CN=a"],
  [false, "CN=a,O=b", "CN=a\\,O=b"],
  [false, "CN=a,O=b", "CN=a，O=b"],
  [false, "CN=a+O=b", "CN=a＋O=b"],
  [false, "CN=ab", "CN=a b"],
  [false, "CN=a", "CN=á"],
  [false, "CN=a", "CN=a\\00"],
  [false, "CN=a", "CN=а"], // Cyrillic
  [false, "GIVENNAME=Jo", "GIVENNAME=jo"],
  [false, "SERIALNUMBER=AbC", "SERIALNUMBER=abc"],
  [false, "DC=a,DC=b", "DC=b,DC=a"],
  [false, "CN=#0c0161,O=x", "CN=#0c0162,O=x"],
  [false, "CN=\\#0c0161", "CN=#0c0161"],
  [false, "DC=é", "DC=?"],
  [false, "", "CN="],
  [false, "no name", "no name"],
];

/** Invalid names, with the position of the error, from 1. */
const INVALID: readonly (readonly [string, number, string])[] = [
  ["demouser", 1, "expected an attribute"],
  ["foo", 1, "expected an attribute"],
  ["CN=x,", 6, "expected an attribute"],
  [",CN=x", 1, "expected an attribute"],
  ["CN=x,,O=y", 6, "expected an attribute"],
  ["CN=x+", 6, "expected an attribute"],
  ["=x", 1, "expected an attribute"],
  ["UID=a+b@c.d", 7, "expected an attribute"],
  ["/C=EU/CN=x", 1, "expected an attribute"],
  ["https://idp.example/?a=b", 1, "expected an attribute"],
  ["XYZ=x", 1, "unknown attribute XYZ"],
  ["__proto__=x", 1, "expected an attribute"],
  ["constructor=x", 1, "unknown attribute"],
  ["3.1=x", 1, "unknown attribute"],
  ["2.05=x", 1, "unknown attribute"],
  ["2..5=x", 1, "unknown attribute"],
  ["2=x", 1, "unknown attribute"],
  ['CN="x', 4, "closing quote"],
  ['CN="x"y', 7, "expected , or +"],
  ['CN=x"y', 5, "a quote inside"],
  ["CN=x\\", 5, "special character"],
  ["CN=x\\y", 5, "special character"],
  ["CN=\\C3", 4, "not UTF-8"],
  ["CN=\\C3x\\BC", 4, "not UTF-8"],
  ["CN=#", 4, "DER"],
  ["CN=#0", 4, "DER"],
  ["CN=#0c03466f", 4, "DER"],
  ["CN=#0c810166", 4, "DER"],
  ["CN=#0c80", 4, "DER"],
  ["CN=#0c0166 x", 12, "expected , or +"],
  ["CN=#xyz", 4, "DER"],
  ["CN=\ud800", 1, "surrogate"],
  ["CN=a\0b", 5, "NUL"],
  [`CN=${"x".repeat(MAX_NAME_LENGTH)}`, MAX_NAME_LENGTH + 1, "longer than"],
];

for (const [text, expected] of FORMS) {
  Deno.test(`canonicalDn() of ${JSON.stringify(text)}`, () => assert.equal(canonicalDn(text), expected));
}

Deno.test("sameName() reports whether two names are the same", () => {
  for (const [same, a, b] of PAIRS) {
    assert.equal(sameName(a, b), same, `${a} | ${b}`);
    assert.equal(sameName(b, a), same, `${b} | ${a}`);
  }
});

Deno.test("parseName() reports the error and its position", () => {
  for (const [text, position, reason] of INVALID) {
    assert.throws(() => parseName(text), (error) => {
      assert.ok(error instanceof InvalidName, text);
      assert.equal(error.code, "ERR_INVALID_NAME");
      assert.equal(error.position, position, text);
      assert.ok(error.reason.includes(reason), `${text}: ${error.reason}`);
      return true;
    });
  }
});

Deno.test("parseName() keeps order, types and values", () => {
  assert.deepEqual(parseName("OU=b+CN= a\\ , DC=x,E=#160161"), [
    [{ type: "2.5.4.11", value: { kind: "text", text: "b" } }, {
      type: "2.5.4.3",
      value: { kind: "text", text: "a " },
    }],
    [{ type: "0.9.2342.19200300.100.1.25", value: { kind: "text", text: "x" } }],
    [{ type: "1.2.840.113549.1.9.1", value: { kind: "text", text: "a" } }],
  ]);
});

Deno.test("escapeNameValue() escapes as RFC 4514 requires", () => {
  for (
    const [value, escaped] of [
      ["ann", "ann"],
      ["a,b+c;d", "a\\,b\\+c\\;d"],
      ['"<=>\\', '\\"\\<\\=\\>\\\\'],
      ["#1#", "\\#1#"],
      [" ", "\\ "],
      ["  a b  ", "\\  a b \\ "],
      ["a\nb\0", "a\\0ab\\00"],
      ["ann, O=admin", "ann\\, O\\=admin"],
    ] as const
  ) assert.equal(escapeNameValue(value), escaped);
});

const anyText = fc.string({
  unit: fc.constantFrom(...'abAB0 ,+;=\\"#<>\t\n\0éßİſﬁ，ΣςͅΐŉÅK·𝒜'.split(/(?:)/u)),
  maxLength: 12,
});
const label = fc.constantFrom("CN", "ou", "O", "UID", "DC", "E", "T", "2.5.4.3", "GIVENNAME", "OID.2.5.4.5");
const attribute = fc.tuple(label, anyText).map(([name, value]) => `${name}=${escapeNameValue(value)}`);
const name = fc.array(fc.tuple(attribute, fc.constantFrom(",", " , ", "+", ";")), { maxLength: 5 })
  .map((parts) => parts.map(([text, separator], i) => (i === 0 ? text : separator + text)).join(""));

Deno.test("escapeNameValue() round-trips any value through parseName()", () => {
  fc.assert(fc.property(fc.oneof(anyText, fc.string({ unit: CHARACTER })), (value) => {
    assert.deepEqual(parseName(`CN=${escapeNameValue(value)},O=x`)[0], [
      { type: "2.5.4.3", value: { kind: "text", text: value } },
    ]);
  }));
});

Deno.test("canonicalDn() is idempotent", () => {
  fc.assert(
    fc.property(name, (text) => {
      const form = canonicalDn(text);
      assert.equal(canonicalDn(form), form);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("canonicalDn() keeps the number of parts, for any values", () => {
  fc.assert(fc.property(name, (text) => {
    assert.deepEqual(
      parseName(canonicalDn(text)).map((r) => r.length),
      parseName(text).map((r) => r.length),
    );
  }));
});

Deno.test("sameName() is reflexive, symmetric and transitive", () => {
  const values = ["Ann", "ann", "ANN ", "a,b", "a\\,b", "b"];
  const near = fc.array(fc.tuple(fc.constantFrom("CN", "cn", "O"), fc.constantFrom(...values)), {
    minLength: 1,
    maxLength: 2,
  }).map((parts) => parts.map(([type, value]) => `${type}=${escapeNameValue(value)}`).join(","));
  fc.assert(fc.property(near, near, near, (a, b, c) => {
    assert.ok(sameName(a, a));
    assert.equal(sameName(a, b), sameName(b, a));
    if (sameName(a, b) && sameName(b, c)) assert.ok(sameName(a, c));
  }));
});

Deno.test("parseName() parses a text or throws InvalidName", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.string({ unit: CHARACTER }), fc.string()), (text) => {
      try {
        parseName(text);
      } catch (error) {
        assert.ok(error instanceof InvalidName);
        assert.ok(error.position >= 1 && error.position <= text.length + 1);
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("foldCharacters() is idempotent for every character, alone or after others", () => {
  for (let from = 0; from < 0x11_0000; from += 0x1000) {
    if (!LONG && isInEmptyPlane(from)) continue; // they do not fold
    const characters = Array.from({ length: 0x1000 }, (_, i) => from + i)
      .filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code));
    for (
      const text of [
        characters.join(""),
        characters.join(" "),
        characters.map((c) => `A${c}`).join(" "),
      ]
    ) {
      const folded = foldCharacters(text);
      assert.equal(foldCharacters(folded) === folded, true, from.toString(16));
    }
  }
});

const LOOSE: readonly (readonly [text: string, loose: boolean])[] = [
  ["", false],
  ["CN=a,O=b", false],
  ["CN=a, O=b b", false],
  ["CN=a+UID=b", false],
  ["CN =a", true],
  ["CN= a", true],
  [" CN=a", true],
  ["CN=a ", true],
  ["CN=a ,O=b", true],
  ["CN=a,  O=b", true],
  ["CN=a +UID=b", true],
  ["CN=a,\tO=b", true],
];
for (const [text, loose] of LOOSE) {
  Deno.test(`hasLooseBlanks() of ${JSON.stringify(text)} is ${loose}`, () => {
    assert.equal(hasLooseBlanks(text), loose);
  });
}
