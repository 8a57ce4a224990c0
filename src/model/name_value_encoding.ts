import { type DerElement, encodeElement, InvalidDer, readElement } from "./der_element.ts";
import type { Comparison } from "./name_attribute_types.ts";

const UTF8_STRING = 0x0c;
const PRINTABLE_STRING = 0x13;
const IA5_STRING = 0x16;

/** Encodes a text as hexadecimal DER: the attribute's narrow string type, or UTF8String (rest-api.md 2.6, step 5). */
export function encodeText(text: string, narrow: "printable" | "ia5"): string {
  const content = new TextEncoder().encode(text);
  // deno-lint-ignore no-control-regex
  const fits = narrow === "ia5" ? /^[\x00-\x7f]*$/.test(text) : /^[A-Za-z0-9 '()+,./:=?-]*$/.test(text);
  const tag = !fits ? UTF8_STRING : narrow === "ia5" ? IA5_STRING : PRINTABLE_STRING;
  return encodeElement(tag, content).toString("hex");
}

/** Decodes a DER value whose type compares as text; `undefined`: compare the encoding. */
export function decodeText(der: string, compared: Comparison["as"]): string | undefined {
  const element = elementOf(der);
  if (compared === "exact" || element === undefined) return undefined;
  const { tag, content } = element;
  const textual = tag === UTF8_STRING || tag === PRINTABLE_STRING ||
    (tag === IA5_STRING && compared === "lower case");
  if (!textual) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Parses hexadecimal DER of exactly one element; `undefined` if it is not that. */
export function elementOf(der: string): DerElement | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(der)) return undefined;
  try {
    const bytes = Uint8Array.fromHex(der);
    const element = readElement(bytes);
    return element.whole.length === bytes.length && element.hasShortestLength() ? element : undefined;
  } catch (error) {
    if (error instanceof InvalidDer) return undefined;
    throw error;
  }
}
