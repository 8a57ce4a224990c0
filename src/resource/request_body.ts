import { isJsonObject } from "../model/json_object.ts";
import { attempt } from "../model/attempt.ts";
import type { HttpRequest } from "../model/http_message.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";

type Body = Pick<HttpRequest, "headers" | "body">;

const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 20_000; // from the request for the body to its last byte

/** Reads the body as JSON; requests it only now, so callers check permissions first. @throws {ERR_INVALID_REQUEST} */
export async function readJson(request: Body, timeoutMs = TIMEOUT_MS): Promise<unknown> {
  const content = await readText(request, timeoutMs);
  return attempt(() => JSON.parse(content), SyntaxError, () => {
    throw invalidRequest("The request body must be a JSON object");
  });
}

/** Reads the body as text; requests it only now. @throws {ERR_INVALID_REQUEST} If it is not UTF-8. */
export async function readText(request: Body, timeoutMs = TIMEOUT_MS): Promise<string> {
  const bytes = await readWhole(request, timeoutMs);
  return attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), TypeError, () => {
    throw invalidRequest("The request body must be text in UTF-8");
  });
}

async function readWhole({ headers, body }: Body, timeoutMs: number): Promise<Uint8Array> {
  if (Number(headers.get("Content-Length") ?? 0) > MAX_BYTES) throw httpError("ERR_BODY_TOO_LARGE");
  if (body === null) return new Uint8Array();
  if (body instanceof Uint8Array) {
    if (body.length > MAX_BYTES) throw httpError("ERR_BODY_TOO_LARGE");
    return body;
  }
  const reader = body.getReader();
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = setTimeout(() => reject(httpError("ERR_REQUEST_TIMEOUT")), timeoutMs);
  return await collect(reader, late).catch((error) => {
    void reader.cancel(error).catch(() => {}); // no reader is left for an error of the source
    throw error;
  });
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  late: Promise<never>,
): Promise<Uint8Array> {
  const whole = new Uint8Array(MAX_BYTES);
  let size = 0;
  for (;;) {
    const { value, done } = await Promise.race([reader.read(), late]);
    if (done) return whole.subarray(0, size);
    if (size + value.length > MAX_BYTES) throw httpError("ERR_BODY_TOO_LARGE");
    whole.set(value, size);
    size += value.length;
  }
}

/** Returns a reader for members of a JSON object, which treats `null` as absent. @throws {ERR_INVALID_REQUEST} */
export function membersOf(body: unknown): (name: string) => unknown {
  if (!isJsonObject(body)) throw invalidRequest("The request body must be a JSON object");
  return (name) => Object.hasOwn(body, name) ? body[name] ?? undefined : undefined;
}

/** Returns a text; accepts numbers and flags. @throws {ERR_INVALID_REQUEST} */
export function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalidRequest(`${name}: expected text`);
}

/** Returns a whole number of at most 15 digits, also from text. @throws {ERR_INVALID_REQUEST} */
export function wholeNumber(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^\s*[+-]?\d{1,15}(?:\.0+)?\s*$/.test(value)
    ? Number(value)
    : value;
  if (typeof number === "number" && Number.isInteger(number) && Math.abs(number) < 1e15) return number;
  throw invalidRequest(`${name}: expected a whole number`);
}
