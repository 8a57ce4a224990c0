import type { HeaderReader } from "../../model/header_list.ts";

/** What tells one version of a file from another, and the conditions of a request on it (RFC 9110, 8.8 and 13). */
export interface Validators {
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch, in whole seconds; undefined if the daemon does not say. */
  readonly lastModified?: number;
}

/** @param modified Any text that changes when the file does. */
export function validatorsOf(size: number, modified: string, lastModified?: number): Validators {
  return { etag: `"${size.toString(36)}-${modified}"`, ...(lastModified !== undefined && { lastModified }) };
}

/** What the conditions of a GET or HEAD request come to (RFC 9110, 13.2.2). */
export function evaluateConditions(
  headers: HeaderReader,
  { etag, lastModified }: Validators,
): "proceed" | "not modified" | "failed" {
  const ifMatch = headers.get("If-Match");
  const ifUnmodifiedSince = parseHttpDate(headers.get("If-Unmodified-Since"));
  if (ifMatch !== null) {
    if (!lists(ifMatch, etag, "strong")) return "failed";
  } else if (
    ifUnmodifiedSince !== undefined && lastModified !== undefined && lastModified > ifUnmodifiedSince
  ) {
    return "failed";
  }
  const ifNoneMatch = headers.get("If-None-Match");
  const ifModifiedSince = parseHttpDate(headers.get("If-Modified-Since"));
  if (ifNoneMatch !== null) return lists(ifNoneMatch, etag, "weak") ? "not modified" : "proceed";
  const unchanged = ifModifiedSince !== undefined && lastModified !== undefined &&
    lastModified <= ifModifiedSince;
  return unchanged ? "not modified" : "proceed";
}

/**
 * Whether the `Range` header counts: without `If-Range`, or if that names exactly this version. A date does so only if
 * the file had rested for a second, since two versions can share one (RFC 9110, 13.1.5 and 8.8.2.2).
 */
export function rangeApplies(
  headers: HeaderReader,
  { etag, lastModified }: Validators,
  now: number,
): boolean {
  const condition = headers.get("If-Range")?.trim();
  if (condition === undefined) return true;
  if (condition.startsWith('"')) return condition === etag;
  return lastModified !== undefined && parseHttpDate(condition) === lastModified &&
    now - lastModified >= 1000;
}

/** `Last-Modified` as RFC 9110, 5.6.7 writes dates. */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

function parseHttpDate(text: string | null): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed)) return undefined;
  const milliseconds = Date.parse(trimmed);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

function lists(header: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (header.trim() === "*") return true;
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => (comparison === "weak" ? tag.replace(/^W\//, "") : tag) === etag);
}
