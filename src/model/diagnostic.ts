import { printable } from "./printable.ts";

/** One thing wrong in a file that an operator wrote: where it stands, what was found, what was expected. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** Path as configured. */
  readonly file: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly key?: string;
  /** What was found; leave it out where it may be secret. */
  readonly found?: string;
  readonly expected: string;
  /** What to do about it, where what was expected does not say. */
  readonly fix?: string;
}

/** `conf/users.txt:3: key = value: what was expected`. */
export function formatDiagnostic({ file, line, key, found, expected }: Diagnostic): string {
  const place = line === undefined ? file : `${file}:${line}`;
  const what = key === undefined ? found : found === undefined ? key : `${key} = ${found}`;
  return printable(what === undefined ? `${place}: ${expected}` : `${place}: ${what}: ${expected}`);
}

/** Whether a problem keeps the service from starting. */
export function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

/** A file that cannot be used as it is; carries all that is wrong with it, not only the first. */
export class InvalidFile extends Error {
  override readonly name = "InvalidFile";

  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(formatDiagnostic).join("\n"));
  }
}
