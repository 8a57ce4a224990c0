import { type ErrorCode, type ErrorRow, ERRORS } from "./errors.ts";

/** What fills the row of a code. */
type Filling = Readonly<Record<string, unknown>> & {
  /** What exactly happened, for the log alone; absent: the text that the caller reads. */
  readonly reason?: string | undefined;
};

/**
 * A failure that a caller may be told of: a row of {@link ERRORS}, filled in. Made by {@link httpError}; the one place that
 * turns it into a response is `src/service/http/error_response.ts`. `message` and `cause` are for the log,
 * `publicMessage` and `headers` for the caller. A class of its own has only what somebody must tell from other failures
 * of the same code, or reads facts of.
 */
export class HttpError extends Error {
  /** HTTP status of the response, should the error reach the caller. */
  readonly status: number;
  readonly publicMessage: string;
  /** Further response headers, such as `Retry-After`. */
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

  /** The code as lines of the log have it: `NoAccount` for `ERR_NO_ACCOUNT`. */
  override get name(): string {
    return this.code.toLowerCase().slice("err".length).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  }
}

/** The names in braces of a text. */
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

/** What text and headers of a code have in braces. */
type Parameters<Row> =
  | (Row extends { readonly text: infer Text } ? Named<Text> : never)
  | (Row extends { readonly headers: infer Headers } ? Named<Headers[keyof Headers]> : never);

/** What a code wants to be told: its parameters if it has any, and what is for the log. */
type Details<Code extends ErrorCode> = Parameters<(typeof ERRORS)[Code]> extends infer Names extends string
  ? [Names] extends [never] ? [reason?: string, cause?: unknown]
  : [filling: Readonly<Record<Names, string | number>> & { readonly reason?: string }, cause?: unknown]
  : never;

/**
 * The error of a code, to be thrown. The caller reads what is filled into the text; reason and cause are for the log.
 *
 * @example
 * throw refuse("ERR_HEADER_TOO_LONG", { name: "Authorization", limit: 8000 });
 * throw refuse("ERR_SHARE_NOT_FOUND", "the owner is banned");
 */
export function httpError<Code extends ErrorCode>(code: Code, ...[told, cause]: Details<Code>): HttpError {
  return new HttpError(code, typeof told === "object" ? told : { reason: told }, cause);
}

/** Whether a thrown value is the error of a code. */
export function isHttpError(error: unknown, code: ErrorCode): error is HttpError {
  return error instanceof HttpError && error.code === code;
}
