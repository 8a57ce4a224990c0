/** What happened under a fault, as `docs/reliability.md` shows it. */
export interface Row {
  /** Whose fault it was: a heading of the page. */
  readonly section: string;
  readonly fault: string;
  /** What callers saw. */
  readonly caller: string;
  /** What operators could read in the log. */
  readonly log: string;
  /** What became of everything else, and how it went on. */
  readonly after: string;
}

/** Folder that the rows are written to, one file each; absent in normal tests. */
const FOLDER = Deno.env.get("AUTHSERVER_FAULT_TABLE");

/** Whether the faults that last long are tried too. */
export const LONG = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;

/** Notes a row for the page, if one is being made. */
export function note(row: Row): void {
  if (FOLDER === undefined) return;
  Deno.writeTextFileSync(`${FOLDER}/${crypto.randomUUID()}.json`, JSON.stringify(row));
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
