/**
 * Escapes characters that steer a terminal, reorder text or are invisible, as JSON does (`\u202e`), for terminals and
 * logs. Tabs stay; JSON text keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\t]|[\p{Zl}\p{Zp}\p{DI}]/gu, escaped);
}

/** Escapes like {@link printable}, but keeps line ends. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

function escaped(character: string): string {
  return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
