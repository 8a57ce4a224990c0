/** Escapes characters that steer a terminal, reorder text or are invisible, as JSON does (`\u202e`). Tabs stay. */
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

/** Removes the given characters from both ends, in linear time. */
export function trimCharacters(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return trimEndCharacters(text.slice(start), characters);
}

/** Removes the given characters from the end; a regular expression such as `/ +$/` takes quadratic time. */
export function trimEndCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Formats a count, such as `1 token` or `2 tokens`. */
export function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Compares two values for sorting: below, above or equal to 0. Texts compare by UTF-16 code units. */
export function compare<Value extends string | number | boolean>(a: Value, b: Value): number {
  return Number(a > b) - Number(a < b);
}

/** Returns the message of an error, or the text of another thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
