import { fstatSync } from "node:fs";

/**
 * Whether a stream of this process ends in the journal: the variable `JOURNAL_STREAM` then holds its device and inode
 * (systemd.exec(5)). Processes that were started from a service inherit the variable, and their streams may lead elsewhere.
 * @param stream 1 for standard output, 2 for standard error.
 */
export function isJournal(stream: 1 | 2, environment: (name: string) => string | undefined): boolean {
  const named = environment("JOURNAL_STREAM") ?? "";
  if (named === "") return false;
  try {
    const { dev, ino } = fstatSync(stream, { bigint: true });
    return named === `${dev}:${ino}`;
  } catch {
    return false; // it is closed
  }
}

/** Messages of a command as the journal wants them, with the priority in front: those that begin so are warnings. */
export function messagesForJournal(text: string): string {
  return text.split("\n").map((line) =>
    line === "" ? "" : `<${/^(?:warning|note)\b/i.test(line) ? 4 : 3}>${line}`
  ).join("\n");
}
