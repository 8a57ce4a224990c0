/** A text that cannot steer the terminal, nor change the order in which it is read. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/gu, "?");
}
