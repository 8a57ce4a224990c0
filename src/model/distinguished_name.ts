import { compare } from "./compare.ts";
import { BoundedMap } from "./bounded_map.ts";
import { attributeType, comparisonOf } from "./name_attribute_types.ts";
import { decodeText, elementOf, encodeText } from "./name_value_encoding.ts";
import { HttpError } from "./http_error.ts";
import { trimEndCharacters } from "./trim.ts";

/** One `type=value` of a name. */
export interface NameAttribute {
  /** Dotted object identifier. */
  readonly type: string;
  readonly value: NameValue;
}

/** Value of an attribute in a name. */
export type NameValue =
  | { readonly kind: "text"; readonly text: string }
  /** Given as `#…`, and no text for its type: DER in lower-case hexadecimal, without the `#`. */
  | { readonly kind: "encoded"; readonly der: string };

/** What stands between two commas: usually one attribute, several if joined with `+`. */
export type RelativeName = readonly NameAttribute[];

/** Text that is no distinguished name. */
export class InvalidName extends HttpError {
  /** @param position Where in the text, counted from 1. */
  constructor(readonly reason: string, readonly position: number) {
    super("ERR_INVALID_NAME", { reason: `Not a distinguished name: ${reason} (at character ${position})` });
  }
}

/** Longest name that is read, in UTF-16 units. Real ones stay below 500. */
export const MAX_NAME_LENGTH = 4096;

/**
 * Reads a distinguished name (RFC 4514 and its forerunner RFC 2253): blanks around `,` `;` `+` `=`, values in double
 * quotes, backslash escapes, `#…` values. The empty text is the empty name.
 * @returns The relative names in the order of the text.
 * @throws {InvalidName}
 */
export function parseName(text: string): readonly RelativeName[] {
  if (text.length > MAX_NAME_LENGTH) {
    throw new InvalidName(`longer than ${MAX_NAME_LENGTH} characters`, MAX_NAME_LENGTH + 1);
  }
  if (!text.isWellFormed()) throw new InvalidName("half a surrogate pair", 1);
  return new NameReader(text).name();
}

/**
 * The text by which names are compared: two names are the same exactly if their comparable forms are equal.
 * Lower case, no blanks around separators, Unicode NFKD; order of the relative names kept (authentication.md 7.9,
 * rest-api.md 2.6). Values are folded before they are escaped, so that a look-alike of a separator (a full-width
 * comma, say) stays part of the value. Idempotent.
 * @throws {InvalidName}
 */
export function canonicalDn(text: string): string {
  const known = FORMS.get(text);
  if (known !== undefined) return known;
  const form = parseName(text).map((name) => canonicalRelativeName(name)).join(",");
  if (text.length <= MAX_REMEMBERED_LENGTH) FORMS.set(text, form);
  return form;
}

/**
 * The canonical DN of a name with its parts in the other order, `CN=…` first instead of last: another name, which
 * people take for the same.
 * @throws {InvalidName}
 */
export function reversedForm(text: string): string {
  return parseName(text).map((name) => canonicalRelativeName(name)).reverse().join(",");
}

/**
 * Returns the canonical DN for a search by patterns: a separator inside a value is two hexadecimal digits (`\2c`).
 * Thus `,` `+` and `=` in the text always separate, and no value contains what a pattern takes for another part.
 * @throws {InvalidName}
 */
export function patternForm(text: string): string {
  return parseName(text).map((name) => canonicalRelativeName(name, SEPARATORS_AND_EQUALS)).join(",");
}

/** Forms of the names that came last: every request compares the caller's with the server's and with the map's. */
const FORMS = new BoundedMap<string, string>(2048);
const MAX_REMEMBERED_LENGTH = 512;

/** Whether two texts name the same; a text that is no name is the same as nothing. */
export function sameName(a: string, b: string): boolean {
  try {
    return canonicalDn(a) === canonicalDn(b);
  } catch (error) {
    if (error instanceof InvalidName) return false;
    throw error;
  }
}

/**
 * Whether there are blanks around the parts of a name that say nothing: before or behind it, around `=` and `+`, before
 * `,`, or behind it more than one plain blank, as names are often written.
 * @throws {InvalidName}
 */
export function hasLooseBlanks(text: string): boolean {
  const reader = new NameReader(text);
  reader.name();
  return reader.looseBlanks;
}

/** A value with everything escaped that means something in a name, for use after `CN=` and the like (RFC 4514, 2.4). */
export function escapeNameValue(value: string): string {
  return value
    .replace(/[",+;<>=\\]|^[# ]| $/g, "\\$&")
    // deno-lint-ignore no-control-regex
    .replace(/[\x00-\x1f\x7f]/g, hexPair);
}

/** @param inHex Characters of values to write as two hexadecimal digits; default: none but control characters. */
function canonicalRelativeName(attributes: RelativeName, inHex?: RegExp): string {
  const [first, ...others] = attributes;
  if (first !== undefined && others.length === 0) return canonicalAttribute(first, inHex);
  // Keywords stand before dotted identifiers, as in the names that existing share stores hold.
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

/** Case, Unicode form and blanks that make no difference. */
function fold(value: string): string {
  const cased = isAscii(value) ? value.toLowerCase() : foldCharacters(value);
  return /[\t-\r]| {2}|^ | $/.test(cased) ? cased.replace(/[\t-\r ]+/g, " ").replace(/^ | $/g, "") : cased;
}

/**
 * Text without case and in Unicode NFKD, as values are compared. Case is that of single letters: the Java service
 * upper-cases first (rest-api.md 2.6, step 7), which makes `ß` the same as `ss` and `ı` the same as `i`, so that one user
 * would get another's account. What is folded is not changed by folding it again.
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

function isAscii(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^[\x00-\x7f]*$/.test(text);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const QUOTED_END = /["\\]/g;
const PLAIN_END = /[,;+"\\]/g;

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

/** Reads a name from left to right. */
class NameReader {
  #at = 0;
  /** Whether there were blanks that say nothing, see {@link hasLooseBlanks}. */
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
      // Blanks at the end are no part of the value, unless escaped.
      if (found !== "\\") return value + trimEndCharacters(piece, "\t\n\r ");
      value += piece + this.#escapes();
    }
  }

  /** One escaped character, or a run of escaped bytes that make up characters in UTF-8. */
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
      try {
        return UTF8.decode(Uint8Array.from(bytes));
      } catch (error) {
        if (error instanceof TypeError) this.#fail("the escaped bytes are not UTF-8", start);
        throw error;
      }
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

  /** Where the next of these characters stands, or the end. */
  #find(characters: RegExp): number {
    characters.lastIndex = this.#at;
    return characters.test(this.text) ? characters.lastIndex - 1 : this.text.length;
  }

  #fail(reason: string, at: number): never {
    throw new InvalidName(reason, at + 1);
  }
}
