import { printable } from "./text.ts";

/** Mistake in a file that an operator wrote. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number; // from 1
  readonly key?: string;
  readonly found?: string; // value found; omitted if it may be secret
  readonly expected: string;
  readonly fix?: string; // what to do, if `expected` does not say it
}

/** Returns the remedy for a file that is absent or cannot be read. */
export function readableAt(path: string): string {
  return `put a file at ${path} that the account of the service can read, or name another one`;
}

/** Formats as `conf/users.txt:3: key = value: expectation`. */
export function formatDiagnostic({ file, line, key, found, expected }: Diagnostic): string {
  const place = line === undefined ? file : `${file}:${line}`;
  const what = key === undefined ? found : found === undefined ? key : `${key} = ${found}`;
  return printable(what === undefined ? `${place}: ${expected}` : `${place}: ${what}: ${expected}`);
}

/** Reports whether a diagnostic keeps the service from starting. */
export function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

/** Error whose message is for the operator: commands print it as it is. */
export class OperatorError extends Error {}

/** File that cannot be used, with all its diagnostics. */
export class InvalidFile extends OperatorError {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(formatDiagnostic).join("\n"));
  }
}
