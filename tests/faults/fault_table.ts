import { type FaultRow, note as noteRow } from "../long/results.ts";

/** Notes what happened under a fault. */
export function note(row: FaultRow): void {
  noteRow("faults", row);
}

/** Seconds since a moment of `performance.now`, for people. */
export function seconds(since: number): string {
  const passed = (performance.now() - since) / 1000;
  return passed < 1 ? "under 1 s" : `${passed.toFixed(0)} s`;
}

/**
 * The cause that a log line names, readable: without addresses, class names, what our own errors say above it, and what
 * libraries say below it.
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
