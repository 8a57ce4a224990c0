import { UnusableKey } from "./wire_reader.ts";

/** Splits off the first word. */
export function splitWord(text: string): [string, string] {
  const end = text.search(/[ \t]/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end).replace(/^[ \t]+/, "")];
}

/** Splits off options up to the first blank outside quotes. @throws {UnusableKey} If nothing follows. */
export function splitOptions(text: string): [string, string] {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && text[at + 1] === '"') at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === " " || character === "\t")) {
      return [text.slice(0, at), text.slice(at).replace(/^[ \t]+/, "")];
    }
  }
  throw new UnusableKey("no key type where one belongs");
}
