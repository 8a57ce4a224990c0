import type { HeaderList } from "../../model/header_list.ts";

/**
 * For how long after a change a file may change again without anybody being able to tell: daemons say the time in whole
 * seconds, and their clocks are not quite ours (RFC 9110, 8.8.1). Milliseconds.
 */
const UNSETTLED_MS = 2000;

/** What tells one version of a file from another (RFC 9110, 8.8). */
export interface Validators {
  /** Entity tag, with its quotes: strong once the file is settled; before, weak and never the same again. */
  readonly etag: string;
  /** When the file was last changed: milliseconds since the epoch, in whole seconds; absent if the daemon does not say. */
  readonly modifiedAt?: number;
  /** Whether these validators stand for one version and no other. */
  readonly settled: boolean;
}

/** @param now Milliseconds since the epoch, as is `modifiedAt`. */
export function validatorsOf(
  { size, modifiedAt }: { readonly size: number; readonly modifiedAt?: number },
  now: number,
): Validators {
  const settled = modifiedAt !== undefined && now - modifiedAt >= UNSETTLED_MS;
  const version = `${size.toString(36)}-${((modifiedAt ?? 0) / 1000).toString(36)}`;
  return {
    etag: settled ? `"${version}"` : `W/"${version}-${now.toString(36)}"`,
    modifiedAt,
    settled,
  };
}

/** What the conditions of a GET or HEAD request come to (RFC 9110, 13.2.2). */
export function evaluateConditions(
  headers: HeaderList,
  file: Validators,
): "proceed" | "not modified" | "failed" {
  if (isMissed(headers, file)) return "failed";
  const ifNoneMatch = headers.get("If-None-Match");
  const ifModifiedSince = parseHttpDate(headers.get("If-Modified-Since"));
  if (ifNoneMatch !== null) return lists(ifNoneMatch, file, "weak") ? "not modified" : "proceed";
  return ifModifiedSince !== undefined && isUnmodifiedSince(file, ifModifiedSince)
    ? "not modified"
    : "proceed";
}

/** Whether the conditions of a PUT request allow to write (RFC 9110, 13.2.2). @param file Absent: there is none yet. */
export function allowsWriting(headers: HeaderList, file: Validators | undefined): boolean {
  if (file === undefined) return !headers.has("If-Match");
  const ifNoneMatch = headers.get("If-None-Match");
  return !isMissed(headers, file) && (ifNoneMatch === null || !lists(ifNoneMatch, file, "weak"));
}

/** Whether the version that the caller wants to have to do with is not the one that is there. */
function isMissed(headers: HeaderList, file: Validators): boolean {
  const ifMatch = headers.get("If-Match");
  if (ifMatch !== null) return !lists(ifMatch, file, "strong");
  const date = parseHttpDate(headers.get("If-Unmodified-Since"));
  return date !== undefined && file.modifiedAt !== undefined && !isUnmodifiedSince(file, date);
}

/**
 * Whether the `Range` header counts: without `If-Range`, or if that names exactly this version (RFC 9110, 13.1.5). Parts of
 * a file that is not settled could be of different versions.
 */
export function rangeApplies(headers: HeaderList, { etag, modifiedAt, settled }: Validators): boolean {
  if (!settled) return false;
  const condition = headers.get("If-Range")?.trim();
  if (condition === undefined) return true;
  return condition.startsWith('"') ? condition === etag : parseHttpDate(condition) === modifiedAt;
}

/** `Last-Modified` as RFC 9110, 5.6.7 writes dates. */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/**
 * Whether a file has not changed since a date. The date of its last change is told of settled files alone; other dates are
 * by the caller's clock, and may lie within the second of a change.
 */
function isUnmodifiedSince({ modifiedAt, settled }: Validators, date: number): boolean {
  if (modifiedAt === undefined) return false;
  return (settled && date === modifiedAt) || date >= modifiedAt + UNSETTLED_MS;
}

function parseHttpDate(text: string | null): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed)) return undefined;
  const milliseconds = Date.parse(trimmed);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Whether an entity tag is among those of a header. What is not settled is the same as nothing that anybody has. */
function lists(header: string, { etag, settled }: Validators, comparison: "strong" | "weak"): boolean {
  if (header.trim() === "*") return true;
  const tags: readonly string[] = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return settled && (tags.includes(etag) || (comparison === "weak" && tags.includes(`W/${etag}`)));
}
