import { type ErrorCode, type ErrorRow, ERRORS } from "./errors.ts";

type Filling = Readonly<Record<string, unknown>> & {
  readonly reason?: string | undefined; // log only; default: the caller's text
};

/** Row of {@link ERRORS} as an error. `message` and `cause` are for the log, `publicMessage` and `headers` for callers. */
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

  body(requestId: string): ErrorBody {
    return { status: this.status, errorMessage: this.publicMessage, code: this.code, requestId };
  }

  /** Name for the log: `NoAccount` for `ERR_NO_ACCOUNT`. */
  override get name(): string {
    return this.code.toLowerCase().slice("err".length).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  }
}

type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

type Parameters<Row> =
  | (Row extends { readonly text: infer Text } ? Named<Text> : never)
  | (Row extends { readonly headers: infer Headers } ? Named<Headers[keyof Headers]> : never);

type Details<Code extends ErrorCode> = Parameters<(typeof ERRORS)[Code]> extends infer Names extends string
  ? [Names] extends [never] ? [reason?: string, cause?: unknown]
  : [filling: Readonly<Record<Names, string | number>> & { readonly reason?: string }, cause?: unknown]
  : never;

/** Returns the error of a code with the parameters of its text; reason and cause are for the log. */
export function httpError<Code extends ErrorCode>(code: Code, ...[details, cause]: Details<Code>): HttpError {
  return new HttpError(code, typeof details === "object" ? details : { reason: details }, cause);
}

/** Reports whether a thrown value is the error of a code. */
export function isHttpError(error: unknown, code: ErrorCode): error is HttpError {
  return error instanceof HttpError && error.code === code;
}

/** JSON body of every response with status 400 or above (design decision "Every error"). */
export interface ErrorBody {
  readonly status: number;
  readonly errorMessage: string; // displayed by all clients
  readonly code: ErrorCode;
  readonly requestId: string;
}

/** Creates {ERR_INVALID_REQUEST}. @param text Names the field and what was expected, never the value. */
export function invalidRequest(text: string): HttpError {
  return httpError("ERR_INVALID_REQUEST", { text });
}
