import type { ErrorBody } from "../model/http_error.ts";
import type { HttpRequest } from "../model/http_message.ts";
import { type InLanguage, type Language, plain } from "./markup.ts";
import { languageOf } from "./texts.ts";
import MESSAGES from "./texts/messages.json" with { type: "json" };

/** Translations of the service's English messages; names in braces stand for any text, which is translated too. */
const TRANSLATIONS: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(Object.entries(MESSAGES));

const LONGEST = 1000; // characters of a text that may be translated, since patterns take quadratic time

const PATTERNS = [...TRANSLATIONS].filter(([english]) => english.includes("{")).map(([english, says]) => {
  const pieces = english.split(/\{(\w+)\}/);
  const parts = pieces.map((piece, i) => i % 2 === 0 ? RegExp.escape(piece) : `(?<${piece}>.+?)`);
  return { regExp: new RegExp(`^${parts.join("")}$`, "s"), says };
});

/** Returns a message of the service, such as that of an error, in the reader's language; without translation in English. */
export function message(english: string): InLanguage {
  return { in: (language) => language === "en" ? english : translated(english, language) };
}

/** Returns the body of an error with its message in the reader's language. */
export function localised({ request }: { readonly request: HttpRequest }, body: ErrorBody): ErrorBody {
  return { ...body, errorMessage: plain(message(body.errorMessage), languageOf(request)) };
}

function translated(english: string, language: Language): string {
  const whole = TRANSLATIONS.get(english)?.[language];
  if (whole !== undefined || english.length > LONGEST) return whole ?? english;
  for (const { regExp, says } of PATTERNS) {
    const { groups } = regExp.exec(english) ?? {};
    const fill = (_: string, name: string) => translated(groups?.[name] ?? "", language);
    if (groups !== undefined) return says[language]?.replace(/\{(\w+)\}/g, fill) ?? english;
  }
  return english;
}
