import type { HttpRequest } from "../model/http_message.ts";
import { type Content, type InLanguage, type Language, plain } from "./markup.ts";
import de from "./texts/de.json" with { type: "json" };
import en from "./texts/en.json" with { type: "json" };
import fr from "./texts/fr.json" with { type: "json" };

/** Texts of the pages by language (RFC 5646). A text with `{count}` can have a form for each plural category, or number. */
export const LANGUAGES: Readonly<Record<Language, unknown>> = { en, de, fr };

const PLURALS = new Map<Language, Intl.PluralRules>();

/** Text of the pages, in the language of its reader. */
export class Text implements InLanguage {
  constructor(readonly path: readonly string[], readonly values: Readonly<Record<string, Content>> = {}) {}

  /** Returns the text with values for its names in braces. */
  with(values: Readonly<Record<string, Content>>): Text {
    return new Text(this.path, values);
  }

  in(language: Language): Content {
    const found = this.path.reduce(memberOf, LANGUAGES[language]);
    const { count } = this.values;
    const rules = () => PLURALS.getOrInsertComputed(language, () => new Intl.PluralRules(language));
    const rule = typeof count === "number" ? rules().select(count) : "other";
    const text = [plain(count, language), rule, "other"].map((form) => memberOf(found, form))
      .find((form) => typeof form === "string");
    const pieces = String(text ?? found).split(/\{(\w+)\}/);
    return pieces.map((piece, i) => i % 2 === 0 ? piece : this.values[piece]);
  }
}

/** Each text of a table in all languages. */
type Table<T> = T extends string | { readonly other: string } ? Text
  : { readonly [K in keyof T]: Table<T[K]> };

/** Texts of the pages. */
export const TEXTS = table(en, []);

/** Returns all texts of a part of the table as JSON, for scripts. */
export function jsonOf(...path: readonly string[]): InLanguage {
  return { in: (language) => JSON.stringify(path.reduce(memberOf, LANGUAGES[language])) };
}

/** Returns the language that a reader prefers (RFC 9110, 12.5.4); English if none is known. */
export function languageOf({ headers }: Pick<HttpRequest, "headers">): Language {
  const ranges = (headers.get("Accept-Language") ?? "").slice(0, 1000).split(",").map((range) => {
    const [tag = "", weight] = range.split(";");
    const quality = Number(weight?.split("=")[1] ?? 1);
    return { language: tag.trim().split("-")[0]?.toLowerCase(), quality: quality > 0 ? quality : 0 };
  });
  for (const { language, quality } of ranges.toSorted((a, b) => b.quality - a.quality)) {
    if (quality > 0 && (language === "en" || language === "de" || language === "fr")) return language;
  }
  return "en";
}

function table<T>(texts: T, path: readonly string[]): Table<T>;
function table(texts: unknown, path: readonly string[]): unknown {
  if (typeof texts !== "object" || texts === null || "other" in texts) return new Text(path);
  const made = Object.entries(texts).map(([name, text]) => [name, table(text, [...path, name])]);
  return Array.isArray(texts) ? made.map(([, text]) => text) : Object.fromEntries(made);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
