import type { HeaderList } from "../../../model/http_message.ts";
import { invalidRequest } from "../../../model/http_error.ts";

/** Part of a file that a request carries. */
export type UploadRange =
  /** @property length Absent if unknown. @property most Upper bound in bytes. */
  | { readonly kind: "whole"; readonly length: number | undefined; readonly most?: number }
  | { readonly kind: "piece"; readonly first: number; readonly length: number; readonly total: number }
  /** Asks how many bytes have arrived. */
  | { readonly kind: "question"; readonly total: number };

const MAX_BYTES = 2 ** 50; // 1 PiB, so that numbers stay exact

/** Parses `Content-Range` of a `PUT` (RFC 9110, 14.4 and 14.5), with a known total, and `Content-Length`. @throws {ERR_INVALID_REQUEST} */
export function parseUploadRange(headers: HeaderList): UploadRange {
  const header = headers.get("Content-Range");
  const length = contentLength(headers);
  if (header === null) return { kind: "whole", length };
  const [, from, to, size = ""] = /^bytes (?:(\d{1,16})-(\d{1,16})|\*)\/(\d{1,16})$/.exec(header) ?? [];
  const total = wholeNumber(size);
  if (total === undefined || total > MAX_BYTES) {
    throw invalidRequest("Content-Range: expected bytes <first>-<last>/<total>, or bytes */<total>");
  }
  if (from === undefined || to === undefined) return { kind: "question", total };
  const [first, last] = [Number(from), Number(to)];
  if (first > last || last >= total || (length !== undefined && length !== last - first + 1)) {
    throw invalidRequest("Content-Range: expected a part of the file, as long as the body");
  }
  return { kind: "piece", first, length: last - first + 1, total };
}

/** Returns the announced length of a body, in bytes. @throws {ERR_INVALID_REQUEST} */
export function contentLength(headers: HeaderList): number | undefined {
  const length = wholeNumber(headers.get("Content-Length") ?? "");
  if (Number(length) > MAX_BYTES) throw invalidRequest(`Content-Length: expected at most ${MAX_BYTES}`);
  return length;
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
