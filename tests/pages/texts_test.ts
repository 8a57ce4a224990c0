import assert from "node:assert/strict";
import { HeaderList } from "../../src/model/http_message.ts";
import { type Language, markup, plain } from "../../src/pages/markup.ts";
import MESSAGES from "../../src/pages/texts/messages.json" with { type: "json" };
import { jsonOf, languageOf, LANGUAGES, type Text, TEXTS } from "../../src/pages/texts.ts";

const { home, admin, tokens, shares, listing, upload } = TEXTS;

/** Texts with their form for one, and for two. */
const COUNTED: readonly (readonly [says: Text, one: string, two: string])[] = [
  [home.instances, "1 instance is running.", "2 instances are running."],
  [
    home.unlessIdle,
    "or until the browser is idle for 1 minute",
    "or until the browser is idle for 2 minutes",
  ],
  [admin.reasons.passwords, "1 wrong password", "2 wrong passwords"],
  [admin.reasons.tokens, "1 wrong token or key", "2 wrong tokens or keys"],
  [admin.reasons.operator, "by an administrator", "by an administrator"],
  [tokens.hours, "1 hour", "2 hours"],
  [shares.count, "1 share", "2 shares"],
  [shares.days, "1 day", "2 days"],
  [shares.usedTimes, "used once", "used 2 times"],
  [shares.files, "1 file", "2 files"],
  [listing.entries, "1 entry", "2 entries"],
  [listing.omitted, "; 1 in this directory cannot be shown", "; 2 in this directory cannot be shown"],
  [upload.uploaded, "1 file was uploaded", "2 files were uploaded"],
  [upload.filesLeft, "You can upload 1 more file.", "You can upload 2 more files."],
];
for (const [says, one, two] of COUNTED) {
  Deno.test(`TEXTS: "${one}", "${two}"`, () => {
    assert.deepEqual([1, 2].map((count) => plain(says.with({ count }), "en")), [one, two]);
  });
}

Deno.test("TEXTS have a form for zero, in each language", () => {
  const none = (says: Text, language: Language) => plain(says.with({ count: 0 }), language);
  assert.equal(none(shares.days, "en"), "never");
  assert.equal(none(shares.usedTimes, "en"), "not used yet");
  assert.equal(none(listing.entries, "en"), "0 entries");
  assert.equal(none(listing.entries, "fr"), "0 élément", "0 is singular in French");
  assert.equal(none(listing.entries, "de"), "0 Einträge");
});

/** Returns texts by path; each plural form has its own row. */
function rowsOf(value: unknown, path = ""): Map<string, string> {
  if (typeof value === "string") return new Map([[path, value]]);
  assert(typeof value === "object" && value !== null, path);
  return new Map(Object.entries(value).flatMap(([name, each]) => [...rowsOf(each, `${path}/${name}`)]));
}

const namesIn = (text = "") => (text.match(/\{\w*\}/g) ?? []).toSorted();
const ENGLISH = rowsOf(LANGUAGES.en);

for (const language of ["de", "fr"] as const) {
  const rows = rowsOf(LANGUAGES[language]);
  Deno.test(`LANGUAGES.${language} has each text, with the same names in braces`, () => {
    assert.deepEqual([...rows.keys()], [...ENGLISH.keys()]);
    for (const [path, text] of rows) {
      const expected = namesIn(ENGLISH.get(path));
      if (!/\/[\d]+$|\/one$/.test(path)) assert.deepEqual(namesIn(text), expected, path);
      assert.notEqual(text.trim(), "", path);
      assert.equal(/^\s/.test(text), /^\s/.test(ENGLISH.get(path) ?? ""), `${path}: blank at its start`);
      assert.equal(/\s$/.test(text), /\s$/.test(ENGLISH.get(path) ?? ""), `${path}: blank at its end`);
    }
  });

  Deno.test(`LANGUAGES.${language} is a translation`, () => {
    // Longer texts that are the same in two languages are an oversight.
    const same = [...rows].filter(([path, text]) => text === ENGLISH.get(path) && text.split(" ").length > 2);
    assert.deepEqual(same, []);
  });
}

Deno.test("French signs of two parts and quotes have non-breaking spaces, German quotes are low and high", () => {
  const translated = (language: "de" | "fr") => [
    ...rowsOf(LANGUAGES[language]).values(),
    ...Object.values(MESSAGES).map((says) => says[language]),
  ];
  for (const text of translated("fr")) assert.doesNotMatch(text, / [:;?!»]|« |["'“”„]|\w[;?!]/, text);
  for (const text of translated("de")) assert.doesNotMatch(text, /["'”«»]|„[^“]*$/, text);
});

Deno.test("texts contain no markup characters, and only placeholders that a page fills", () => {
  for (const language of ["en", "de", "fr"] as const) {
    for (const [path, text] of rowsOf(LANGUAGES[language])) assert.doesNotMatch(text, /[<>]|\$\{/, path);
  }
});

Deno.test("Text escapes the values of placeholders, in each language, and keeps markup", () => {
  for (const language of ["en", "de", "fr"] as const) {
    const shown = markup`${upload.title.with({ name: "<b>{name}" })}`.toString(language);
    assert.match(shown, /&#60;b&#62;\{name\}/);
    assert.match(markup`${upload.title.with({ name: markup`<b></b>` })}`.toString(language), /<b><\/b>/);
  }
  assert.throws(() => plain(upload.title.with({ name: markup`<b></b>` }), "en"), TypeError);
});

Deno.test("jsonOf() is safe in an attribute, in each language", () => {
  for (const language of ["en", "de", "fr"] as const) {
    const shown = markup`${jsonOf("upload", "script")}`.toString(language);
    assert.doesNotMatch(shown, /["'<>]/);
  }
});

const WANTED: readonly (readonly [string | undefined, Language])[] = [
  [undefined, "en"],
  ["", "en"],
  ["de", "de"],
  ["de-CH, fr;q=0.9", "de"],
  ["it, fr;q=0.5, de;q=0.7", "de"],
  ["en-GB,en;q=0.9,de;q=0.8", "en"],
  ["FR-fr", "fr"],
  ["de;q=0, fr;q=0.1", "fr"],
  ["*", "en"],
  ["de;q=x, fr;q=0.2", "fr"],
  ["deutsch, constructor, __proto__", "en"],
  [`${"x,".repeat(600)}de`, "en"],
];
for (const [header, language] of WANTED) {
  Deno.test(`languageOf() chooses ${language} for ${header?.slice(0, 40)}`, () => {
    const headers = new HeaderList(header === undefined ? [] : ["Accept-Language", header]);
    assert.equal(languageOf({ headers }), language);
  });
}
