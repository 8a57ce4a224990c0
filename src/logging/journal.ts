import { fstatSync } from "node:fs";

/**
 * Reports whether a stream leads to the journal, by device and inode in `JOURNAL_STREAM` (systemd.exec(5)), which
 * children inherit even if redirected.
 * @param stream 1: standard output; 2: standard error.
 */
export function isJournal(stream: 1 | 2, environment: (name: string) => string | undefined): boolean {
  const named = environment("JOURNAL_STREAM") ?? "";
  if (named === "") return false;
  try {
    const { dev, ino } = fstatSync(stream, { bigint: true });
    return named === `${dev}:${ino}`;
  } catch {
    return false; // closed
  }
}

/** Prefixes warnings of a command with their journal priority. */
export function messagesForJournal(text: string): string {
  return text.split("\n").map((line) =>
    line === "" ? "" : `<${/^(?:warning|note)\b/i.test(line) ? 4 : 3}>${line}`
  ).join("\n");
}
