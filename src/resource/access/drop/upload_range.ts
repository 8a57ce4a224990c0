import type { HeaderList } from "../../../model/header_list.ts";
import { invalidRequest } from "../../invalid_request.ts";

/** What of a file a request brings. */
export type UploadRange =
  /** All of it. @property length Bytes; absent: nobody says before the end. @property most Bytes it can have at most. */
  | { readonly kind: "whole"; readonly length: number | undefined; readonly most?: number }
  /** Bytes from `first` on, `length` of them, of a file of `total`. */
  | { readonly kind: "piece"; readonly first: number; readonly length: number; readonly total: number }
  /** Nothing: it asks how much of a file of `total` bytes is there. */
  | { readonly kind: "question"; readonly total: number };

/** Bytes of a file at most, so that numbers stay exact: 1 PiB. */
const MOST = 2 ** 50;

/**
 * Reads `Content-Range` of a `PUT` (RFC 9110, 14.4 and 14.5), in the unit of bytes with a known total, and
 * `Content-Length`.
 * @throws {ERR_INVALID_REQUEST}
 */
export function parseUploadRange(headers: HeaderList): UploadRange {
  const header = headers.get("Content-Range");
  const length = wholeNumber(headers.get("Content-Length") ?? "");
  if (header === null) return { kind: "whole", length };
  const [, from, to, size = ""] = /^bytes (?:(\d{1,16})-(\d{1,16})|\*)\/(\d{1,16})$/.exec(header) ?? [];
  const total = wholeNumber(size);
  if (total === undefined || total > MOST) {
    throw invalidRequest("Content-Range: expected bytes <first>-<last>/<total>, or bytes */<total>");
  }
  if (from === undefined || to === undefined) return { kind: "question", total };
  const [first, last] = [Number(from), Number(to)];
  if (first > last || last >= total || (length !== undefined && length !== last - first + 1)) {
    throw invalidRequest("Content-Range: expected a part of the file, as long as the body");
  }
  return { kind: "piece", first, length: last - first + 1, total };
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
