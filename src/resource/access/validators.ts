import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { isWritable } from "../../daemon/session/entry.ts";
import { type DatedEntry, existingFile } from "../../files/files.ts";
import { httpError } from "../../model/http_error.ts";
import type { HeaderList } from "../../model/http_message.ts";

/** Milliseconds in which a change could go unnoticed: daemons report whole seconds, and clocks differ (RFC 9110, 8.8.1). */
const UNSETTLED_MS = 2000;

/** Validators of one version of a file (RFC 9110, 8.8). */
export interface Validators {
  /** Entity tag with its quotes: strong once the file is settled; before, weak and unique. */
  readonly etag: string;
  readonly modifiedAt?: number; // milliseconds since the epoch, in whole seconds
  readonly settled: boolean; // whether the validators identify one version
  readonly version: string; // with which tags begin
  readonly locked?: boolean; // whether the caller's lock keeps others from writing it
}

/** Derives validators. @param now Milliseconds since the epoch, as is `modifiedAt`. */
export function validatorsOf(
  { size, modifiedAt, version = ((modifiedAt ?? 0) / 1000).toString(36) }: {
    readonly size: number;
    readonly modifiedAt?: number | undefined;
    readonly version?: string | undefined; // default: the time
  },
  now: number,
): Validators {
  // Clients that lock a new file create an empty one, whose content is certain.
  const settled = modifiedAt !== undefined && (size === 0 || now - modifiedAt >= UNSETTLED_MS);
  const text = `${size.toString(36)}-${version}`;
  return {
    etag: settled ? `"${text}"` : `W/"${text}-${now.toString(36)}"`,
    modifiedAt,
    settled,
    version: text,
  };
}

/** Evaluates the conditions of a GET or HEAD request (RFC 9110, 13.2.2). */
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

/** Reports whether the conditions of a PUT request permit the write (RFC 9110, 13.2.2). */
export function allowsWriting(headers: HeaderList, file: Validators | undefined): boolean {
  if (file === undefined) return !headers.has("If-Match");
  const ifNoneMatch = headers.get("If-None-Match");
  return !isMissed(headers, file) && (ifNoneMatch === null || !lists(ifNoneMatch, file, "weak"));
}

/**
 * Returns the file at a path, if there is one. @throws {ERR_PRECONDITION_FAILED | ERR_NOT_A_FILE | ERR_ACCESS_REFUSED} If the
 * conditions of a request, or its own permissions, do not permit writing it.
 */
export async function fileToWrite(
  session: DaemonSession,
  path: string,
  conditions: HeaderList,
  now: number,
): Promise<DatedEntry | undefined> {
  const existing = await existingFile(session, path);
  const isMet = allowsWriting(conditions, existing && validatorsOf(existing, now));
  if (!isMet) throw httpError("ERR_PRECONDITION_FAILED");
  if (existing !== undefined && !isWritable(existing)) throw httpError("ERR_ACCESS_REFUSED", "not writable");
  return existing;
}

function isMissed(headers: HeaderList, file: Validators): boolean {
  const ifMatch = headers.get("If-Match");
  if (ifMatch !== null) return !lists(ifMatch, file, "strong");
  const date = parseHttpDate(headers.get("If-Unmodified-Since"));
  return date !== undefined && file.modifiedAt !== undefined && !isUnmodifiedSince(file, date);
}

/** Reports whether `Range` applies: no `If-Range`, or a match of this version (RFC 9110, 13.1.5). An unsettled file could mix versions. */
export function rangeApplies(headers: HeaderList, { etag, modifiedAt, settled }: Validators): boolean {
  if (!settled) return false;
  const condition = headers.get("If-Range")?.trim();
  if (condition === undefined) return true;
  return condition.startsWith('"') ? condition === etag : parseHttpDate(condition) === modifiedAt;
}

/** Formats a date for `Last-Modified` (RFC 9110, 5.6.7). */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/** Only the dates of settled files are exact; other dates come from the caller's clock. */
function isUnmodifiedSince({ modifiedAt, settled, locked }: Validators, date: number): boolean {
  if (modifiedAt === undefined) return false;
  return ((settled || locked === true) && date === modifiedAt) || date >= modifiedAt + UNSETTLED_MS;
}

function parseHttpDate(text: string | null): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed)) return undefined;
  const milliseconds = Date.parse(trimmed);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** An unsettled tag matches nothing, unless the caller locked the file. */
function lists(
  header: string,
  { etag, settled, version, locked }: Validators,
  comparison: "strong" | "weak",
): boolean {
  if (header.trim() === "*") return true;
  const tags: readonly string[] = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  if (locked) return tags.some((tag) => tag === `"${version}"` || tag.startsWith(`W/"${version}-`));
  return settled && (tags.includes(etag) || (comparison === "weak" && tags.includes(`W/${etag}`)));
}
