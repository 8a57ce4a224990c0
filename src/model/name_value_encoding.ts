import type { Comparison } from "./name_attribute_types.ts";

const UTF8_STRING = "0c";
const PRINTABLE_STRING = "13";
const IA5_STRING = "16";

/**
 * A text as one DER value, in lower-case hexadecimal: of the narrow string type if its characters allow, else UTF8String.
 * Which narrow type is a matter of the attribute (rest-api.md 2.6, step 5).
 */
export function encodeText(text: string, narrow: "printable" | "ia5"): string {
  const content = new TextEncoder().encode(text);
  // deno-lint-ignore no-control-regex
  const fits = narrow === "ia5" ? /^[\x00-\x7f]*$/.test(text) : /^[A-Za-z0-9 '()+,./:=?-]*$/.test(text);
  const tag = !fits ? UTF8_STRING : narrow === "ia5" ? IA5_STRING : PRINTABLE_STRING;
  return tag + encodeLength(content.length) + content.toHex();
}

/**
 * The text in a DER value, where a value of that type compares as text.
 * @returns `undefined` if it is of another type, so that the encoding itself is compared.
 */
export function decodeText(der: string, compared: Comparison["as"]): string | undefined {
  if (compared === "exact") return undefined;
  const tag = der.slice(0, 2);
  const textual = tag === UTF8_STRING || tag === PRINTABLE_STRING ||
    (tag === IA5_STRING && compared === "lower case");
  const content = contentOf(der);
  if (!textual || content === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.fromHex(content));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The content of exactly one DER value, all in hexadecimal; `undefined` if the text is not that. */
export function contentOf(der: string): string | undefined {
  const [, tag, first, rest] = /^([0-9a-f]{2})([0-9a-f]{2})((?:[0-9a-f]{2})*)$/.exec(der) ?? [];
  if (tag === undefined || first === undefined || rest === undefined) return undefined;
  if ((parseInt(tag, 16) & 0x1f) === 0x1f) return undefined;
  const short = parseInt(first, 16);
  const lengthDigits = short < 0x80 ? 0 : (short - 0x80) * 2;
  const content = rest.slice(lengthDigits);
  const header = first + rest.slice(0, lengthDigits);
  return header === encodeLength(content.length / 2) ? content : undefined;
}

function encodeLength(length: number): string {
  const digits = length.toString(16);
  const hex = digits.length % 2 === 0 ? digits : `0${digits}`;
  return length < 0x80 ? hex : (0x80 + hex.length / 2).toString(16) + hex;
}
