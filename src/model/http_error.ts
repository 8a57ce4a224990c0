import { type ErrorCode, type ErrorRow, ERRORS } from "./errors.ts";

type Filling = Readonly<Record<string, unknown>> & {
  readonly reason?: string | undefined; // log only; default: the caller's text
};

/**
 * Error that a caller may see: a row of {@link ERRORS}, made by {@link httpError}. `message` and `cause` are for the
 * log, `publicMessage` and `headers` for the caller. Subclasses exist only where code catches them.
 */
export class HttpError extends Error {
  readonly status: number;
  readonly publicMessage: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(readonly code: ErrorCode, { reason, ...parameters }: Filling = {}, cause?: unknown) {
    const row: ErrorRow = ERRORS[code];
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => String(parameters[name]));
    const text = fill(row.text);
    super(reason ?? text, cause === undefined ? undefined : { cause });
    this.status = row.status;
    this.publicMessage = text;
    this.headers = Object.fromEntries(
      Object.entries(row.headers ?? {}).map(([name, value]) => [name, fill(value)]),
    );
  }

  /** Name for the log: `NoAccount` for `ERR_NO_ACCOUNT`. */
  override get name(): string {
    return this.code.toLowerCase().slice("err".length).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  }
}

/** Names in braces. */
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

/** Parameters of text and headers. */
type Parameters<Row> =
  | (Row extends { readonly text: infer Text } ? Named<Text> : never)
  | (Row extends { readonly headers: infer Headers } ? Named<Headers[keyof Headers]> : never);

/** Parameters of a code, with log details. */
type Details<Code extends ErrorCode> = Parameters<(typeof ERRORS)[Code]> extends infer Names extends string
  ? [Names] extends [never] ? [reason?: string, cause?: unknown]
  : [filling: Readonly<Record<Names, string | number>> & { readonly reason?: string }, cause?: unknown]
  : never;

/**
 * Returns the error of a code. The caller sees the parameters; reason and cause are for the log.
 * @example throw httpError("ERR_HEADER_TOO_LONG", { name: "Authorization", limit: 8000 });
 */
export function httpError<Code extends ErrorCode>(code: Code, ...[details, cause]: Details<Code>): HttpError {
  return new HttpError(code, typeof details === "object" ? details : { reason: details }, cause);
}

/** Reports whether a thrown value is the error of a code. */
export function isHttpError(error: unknown, code: ErrorCode): error is HttpError {
  return error instanceof HttpError && error.code === code;
}
