/** A text that cannot steer the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\t]/gu, "?");
}
