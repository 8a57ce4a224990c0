import { InvalidResponse } from "./invalid_response.ts";

const MAX_LENGTH = 256 * 1024; // characters
const MAX_DEPTH = 64;
/** Elements, including one per group: verifying takes 50 to 100 µs each, in one blocking call. */
const MAX_ELEMENTS = 500;
/** Attributes and namespace declarations per element, which are compared pairwise. */
const MAX_ATTRIBUTES = 32;
const MAX_ALL_ATTRIBUTES = 1_500; // attributes in all: OpenSAML writes up to three per group

const BLANKS = " \t\r\n";

/**
 * Checks markup in linear time before parsers that take quadratic time see it, not well-formedness.
 * @throws {InvalidResponse}
 */
export function checkMarkup(text: string): void {
  if (text.length > MAX_LENGTH) {
    throw new InvalidResponse(`the message is longer than ${MAX_LENGTH} characters`);
  }
  let [depth, elements, attributes] = [0, 0, 0];
  const start = text.startsWith("\ufeff") ? 1 : 0;
  for (let at = text.indexOf("<"); at >= 0;) {
    const next = text[at + 1];
    let end = at;
    if (next === "!") throw new InvalidResponse(`the message has a ${kindOf(text, at)}`);
    if (next === "?") {
      const isDeclaration = at === start && text.startsWith("<?xml", at) &&
        BLANKS.includes(text[at + 5] ?? "?");
      if (!isDeclaration) throw new InvalidResponse("the message has a processing instruction");
    } else if (next === "/") {
      if (--depth < 0) throw new InvalidResponse("the message is not XML: an end tag without its start tag");
    } else {
      const tag = endOfTag(text, at);
      end = tag.end;
      const levels = depth + 1;
      if (!tag.isEmpty) depth = levels;
      attributes += tag.attributes;
      atMost(++elements, MAX_ELEMENTS, "the message has", "elements");
      atMost(tag.attributes, MAX_ATTRIBUTES, "an element has", "attributes");
      atMost(attributes, MAX_ALL_ATTRIBUTES, "the message has", "attributes");
      atMost(levels, MAX_DEPTH, "the message is nested deeper: it has", "levels");
    }
    at = text.indexOf("<", end + 1);
  }
}

function atMost(found: number, most: number, who: string, what: string): void {
  if (found > most) throw new InvalidResponse(`${who} more than ${most} ${what}`);
}

/** Names the construct that begins with `<!`. */
function kindOf(text: string, at: number): string {
  if (text.startsWith("<!--", at)) return text.includes("<!DOCTYPE", at) ? "document type" : "comment";
  return text.startsWith("<![CDATA[", at) ? "CDATA section" : "document type";
}

/** Finds the end of a start tag and counts its attributes. @throws {InvalidResponse} */
function endOfTag(text: string, begin: number): { end: number; attributes: number; isEmpty: boolean } {
  let attributes = 0;
  for (let at = begin + 1; at < text.length; at++) {
    const character = text[at];
    if (character === ">") return { end: at, attributes, isEmpty: text[at - 1] === "/" };
    if (character === "<") break;
    if (character === "=") attributes++;
    if (character !== '"' && character !== "'") continue;
    const close = text.indexOf(character, at + 1);
    if (close < 0) break;
    at = close;
  }
  throw new InvalidResponse("the message is not XML: a tag does not end");
}
