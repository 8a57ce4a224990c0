import { type FaultRow, note as noteRow } from "../long/results.ts";

/** Records the effects of a fault. */
export function note(row: FaultRow): void {
  noteRow("faults", row);
}

/** Returns the limit that a duration met, such as `within 5 s`. @param milliseconds Duration. */
export function within(milliseconds: number): string {
  const bounds = [1, 2, 5, 10, 20, 30, 60, 120];
  const bound = bounds.find((bound) => milliseconds <= bound * 1000) ?? Math.ceil(milliseconds / 1000);
  return `within ${bound} s`;
}

/**
 * Returns the cause in a log line for readers: without addresses, class names, texts of our own errors above
 * it, and texts of libraries below it.
 */
export function causeIn(line: string): string {
  const [, text = line] = /(?:error|reason)="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  const plain = text.replace(/(?:127\.0\.0\.1|localhost|nowhere\.invalid):\d+/g, "<address>");
  const [, own = plain.replace(/^[A-Z]\w+: (?:Attribute source \w+: )?/, "")] =
    /<address>: (.*)/.exec(plain) ?? [];
  const [said = "", ...below] = own.replace(/\)+$/, "").split(/ \((?:cause: (?:\w+: )*)?/);
  const [detail] = below;
  return detail === undefined || detail.length > 60 || /aborted|^SSL|same as/.test(detail) ||
      said.includes(detail)
    ? said
    : `${said} (${detail})`;
}
