/**
 * A text as it may be shown in a terminal or a log: what steers a terminal, changes the order of reading or cannot be
 * seen (controls but the tab, format characters, line separators, surrogates, unassigned and private characters) is
 * written as in JSON, such as `\u202e`; in JSON text it thus means what it did.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]|[\p{Zl}\p{Zp}\p{DI}]/gu, escaped);
}

/** As {@link printable}, for whole lines: their ends stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

function escaped(character: string): string {
  return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
