import { attempt } from "./attempt.ts";
import { compare, trimEndCharacters } from "./text.ts";
import { BoundedMap } from "./bounded_map.ts";
import {
  attributeType,
  comparisonOf,
  decodeStrictly,
  decodeText,
  elementOf,
  encodeText,
} from "./name_attribute_types.ts";
import { HttpError } from "./http_error.ts";

/** One `type=value` of a name. */
export interface NameAttribute {
  readonly type: string; // dotted object identifier
  readonly value: NameValue;
}

export type NameValue =
  | { readonly kind: "text"; readonly text: string }
  /** `#…` value without a text form: lower-case hexadecimal DER without the `#`. */
  | { readonly kind: "encoded"; readonly der: string };

/** Part between two commas: one attribute, or several joined with `+`. */
export type RelativeName = readonly NameAttribute[];

/** Error for a text that is not a distinguished name. */
export class InvalidName extends HttpError {
  constructor(readonly reason: string, readonly position: number) {
    super("ERR_INVALID_NAME", { reason: `Not a distinguished name: ${reason} (at character ${position})` });
  }
}

/** Longest accepted name in UTF-16 units. Real ones stay below 500. */
export const MAX_NAME_LENGTH = 4096;

/** Parses a distinguished name (RFC 4514, RFC 2253) with blanks, quotes, escapes and `#…`. @throws {InvalidName} */
export function parseName(text: string): readonly RelativeName[] {
  if (text.length > MAX_NAME_LENGTH) {
    throw new InvalidName(`longer than ${MAX_NAME_LENGTH} characters`, MAX_NAME_LENGTH + 1);
  }
  if (!text.isWellFormed()) throw new InvalidName("half a surrogate pair", 1);
  if (text.includes("\0")) throw new InvalidName("NUL must be written as \\00", 1 + text.indexOf("\0"));
  return new NameReader(text).name();
}

/**
 * Returns the canonical form, which equal names share (credentials.md 7.9, rest-api.md 2.6): lower case, NFKD.
 * Folding precedes escaping, so that a full-width comma stays part of its value. @throws {InvalidName}
 */
export function canonicalDn(text: string): string {
  const known = FORMS.get(text);
  if (known !== undefined) return known;
  const form = parseName(text).map((name) => canonicalRelativeName(name)).join(",");
  if (text.length <= MAX_REMEMBERED_LENGTH) FORMS.set(text, form);
  return form;
}

/** Returns the canonical DN in reverse order, which people mistake for the same name. @throws {InvalidName} */
export function reversedForm(text: string): string {
  return parseName(text).map((name) => canonicalRelativeName(name)).reverse().join(",");
}

/** Returns the canonical DN with separators inside values as digits (`\2c`), for patterns. @throws {InvalidName} */
export function patternForm(text: string): string {
  return parseName(text).map((name) => canonicalRelativeName(name, SEPARATORS_AND_EQUALS)).join(",");
}

/** Cache: every request compares the caller's name with the server's and the map's. */
const FORMS = new BoundedMap<string, string>(2048);
const MAX_REMEMBERED_LENGTH = 512;

/** Reports whether two texts name the same entity; false if either is no name. */
export function sameName(a: string, b: string): boolean {
  return ifValidDn(() => canonicalDn(a) === canonicalDn(b)) ?? false;
}

/** Returns the result of `read`; `undefined` if its text is no name. */
export function ifValidDn<T>(read: () => T): T | undefined {
  return attempt(read, InvalidName, () => undefined);
}

/** Reports blanks without meaning around separators, except one after a comma. @throws {InvalidName} */
export function hasLooseBlanks(text: string): boolean {
  const reader = new NameReader(text);
  reader.name();
  return reader.looseBlanks;
}

/** Escapes a value for use after `CN=` and the like (RFC 4514, 2.4). */
export function escapeNameValue(value: string): string {
  return value
    .replace(/[",+;<>=\\]|^[# ]| $/g, "\\$&")
    // deno-lint-ignore no-control-regex
    .replace(/[\x00-\x1f\x7f]/g, hexPair);
}

/** @param inHex Characters to write as hexadecimal digits, besides control characters. */
function canonicalRelativeName(attributes: RelativeName, inHex?: RegExp): string {
  const [first, ...others] = attributes;
  if (first !== undefined && others.length === 0) return canonicalAttribute(first, inHex);
  // Keywords sort before dotted identifiers, as in existing share stores.
  return attributes.map((attribute) => canonicalAttribute(attribute, inHex)).sort((a, b) => {
    const [dottedA, dottedB] = [/^[0-9]/.test(a), /^[0-9]/.test(b)];
    return compare(dottedA, dottedB) || compare(a, b);
  }).join("+");
}

function canonicalAttribute({ type, value }: NameAttribute, inHex?: RegExp): string {
  const { label, as } = comparisonOf(type);
  if (value.kind === "encoded") return `${label}=#${value.der}`;
  switch (as) {
    case "folded":
      // Nearly all values are plain, and a map file may have 100,000 of them.
      return /^[\w.@-]+(?: [\w.@-]+)*$/.test(value.text)
        ? `${label}=${value.text.toLowerCase()}`
        : `${label}=${inHex ? fold(value.text).replace(inHex, hexPair) : escapeCanonical(fold(value.text))}`;
    case "lower case":
      return `${label}=#${encodeText(value.text.toLowerCase(), "ia5")}`;
    case "exact":
      return `${label}=#${encodeText(value.text, "printable")}`;
  }
}

function fold(value: string): string {
  // deno-lint-ignore no-control-regex
  const cased = /^[\x00-\x7f]*$/.test(value) ? value.toLowerCase() : foldCharacters(value);
  return /[\t-\r]| {2}|^ | $/.test(cased) ? cased.replace(/[\t-\r ]+/g, " ").replace(/^ | $/g, "") : cased;
}

/**
 * Folds case and applies NFKD. The Java service upper-cases first (rest-api.md 2.6, step 7), so that `ß` equals
 * `ss` and `ı` equals `i`: one user would get another's account.
 */
export function foldCharacters(value: string): string {
  return value.normalize("NFKD").toLowerCase().normalize("NFKD");
}

// deno-lint-ignore no-control-regex
const SEPARATORS_AND_EQUALS = /[",+;<>=\\\x00-\x1f\x7f]|^#/g;

function escapeCanonical(value: string): string {
  // deno-lint-ignore no-control-regex
  if (!/[",+;<>\\\x00-\x1f\x7f]|^#/.test(value)) return value;
  // deno-lint-ignore no-control-regex
  return value.replace(/[",+;<>\\]|^#/g, "\\$&").replace(/[\x00-\x1f\x7f]/g, hexPair);
}

function hexPair(character: string): string {
  return `\\${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

const QUOTED_END = /["\\]/g;
const PLAIN_END = /[,;+"\\]/g;

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

class NameReader {
  #at = 0;
  looseBlanks = false;

  constructor(readonly text: string) {}

  name(): readonly RelativeName[] {
    const names: RelativeName[] = [];
    this.#skipBlanks();
    if (this.#at === this.text.length) return names;
    let attributes: NameAttribute[] = [];
    for (;;) {
      attributes.push(this.#attribute());
      this.#skipBlanks();
      const separator = this.text[this.#at];
      if (separator === "," && this.text[this.#at + 1] === " ") this.#at++;
      if (separator !== "+") {
        names.push(attributes);
        attributes = [];
      }
      if (separator === undefined) return names;
      this.#at++;
    }
  }

  #attribute(): NameAttribute {
    this.#skipBlanks();
    const start = this.#at;
    const stop = this.text.indexOf("=", start);
    let end = Math.max(start, stop);
    while (end > start && isBlank(this.text.charCodeAt(end - 1))) end--;
    if (end < stop) this.looseBlanks = true;
    const label = this.text.slice(start, end);
    if (!/^[A-Za-z0-9.-]+$/.test(label)) this.#fail("expected an attribute such as CN=", start);
    const type = attributeType(label);
    if (type === undefined) this.#fail(`unknown attribute ${label.slice(0, 60)}`, start);
    this.#at = stop + 1;
    this.#skipBlanks();
    return { type, value: this.#value(type) };
  }

  #value(type: string): NameValue {
    const first = this.text[this.#at];
    if (first === "#") return this.#encoded(type);
    return { kind: "text", text: first === '"' ? this.#quoted() : this.#plain() };
  }

  #encoded(type: string): NameValue {
    const start = this.#at++;
    while (/[0-9A-Fa-f]/.test(this.text[this.#at] ?? "")) this.#at++;
    const der = this.text.slice(start + 1, this.#at).toLowerCase();
    if (elementOf(der) === undefined) this.#fail("expected one complete DER value in hexadecimal", start);
    this.#expectSeparator();
    const text = decodeText(der, comparisonOf(type).as);
    return text === undefined ? { kind: "encoded", der } : { kind: "text", text };
  }

  #quoted(): string {
    const start = this.#at++;
    const parts: string[] = [];
    for (;;) {
      const stop = this.#find(QUOTED_END);
      parts.push(this.text.slice(this.#at, stop));
      this.#at = stop;
      const found = this.text[stop];
      if (found === undefined) this.#fail("the closing quote is missing", start);
      if (found === '"') break;
      parts.push(this.#escapes());
    }
    this.#at++;
    this.#expectSeparator();
    return parts.join("");
  }

  #plain(): string {
    let value = "";
    for (;;) {
      const stop = this.#find(PLAIN_END);
      const piece = this.text.slice(this.#at, stop);
      this.#at = stop;
      const found = this.text[stop];
      if (found === '"') this.#fail("a quote inside a value must be escaped", stop);
      if (found !== "\\" && isBlank(piece.charCodeAt(piece.length - 1))) this.looseBlanks = true;
      // Trailing blanks are no part of the value, unless escaped.
      if (found !== "\\") return value + trimEndCharacters(piece, "\t\n\r ");
      value += piece + this.#escapes();
    }
  }

  /** Reads one escaped character, or a run of escaped UTF-8 bytes. */
  #escapes(): string {
    const start = this.#at;
    const bytes: number[] = [];
    for (;;) {
      const pair = /^\\([0-9A-Fa-f]{2})/.exec(this.text.slice(this.#at, this.#at + 3))?.[1];
      if (pair === undefined) break;
      bytes.push(parseInt(pair, 16));
      this.#at += 3;
    }
    if (bytes.length > 0) {
      return decodeStrictly(Uint8Array.from(bytes)) ?? this.#fail("the escaped bytes are not UTF-8", start);
    }
    const escaped = this.text[this.#at + 1];
    if (escaped === undefined || !' "#+,;<=>\\'.includes(escaped)) {
      this.#fail("expected a special character or two hexadecimal digits after \\", start);
    }
    this.#at += 2;
    return escaped;
  }

  #expectSeparator(): void {
    this.#skipBlanks();
    const next = this.text[this.#at];
    if (next !== undefined && !",;+".includes(next)) this.#fail("expected , or + after the value", this.#at);
  }

  #skipBlanks(): void {
    while (isBlank(this.text.charCodeAt(this.#at))) {
      this.looseBlanks = true;
      this.#at++;
    }
  }

  /** Returns the position of the next of these characters, or the end. */
  #find(characters: RegExp): number {
    characters.lastIndex = this.#at;
    return characters.test(this.text) ? characters.lastIndex - 1 : this.text.length;
  }

  #fail(reason: string, at: number): never {
    throw new InvalidName(reason, at + 1);
  }
}
