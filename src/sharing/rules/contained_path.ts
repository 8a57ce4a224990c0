import { nothingThere } from "../../daemon/session/session_errors.ts";
import { isDirectory, type Share } from "../share.ts";
import { hasForbiddenCharacter } from "../../model/absolute_path.ts";

/**
 * The absolute path that an HTTP request means inside a share, and never anything outside (D7).
 * @param segments What follows the share's id in the request's path, split at `/` and still percent-encoded; decoded
 *   here, once. A last empty segment asks for a directory.
 * @returns Ends in a slash if a directory was asked for.
 * @throws {ERR_NOT_FOUND} Not valid UTF-8, `.` or `..`, encoded slashes, control characters, a path below a file.
 */
export function containedPath(share: Pick<Share, "path">, segments: readonly string[]): string {
  if (segments.length === 0) return share.path;
  if (!isDirectory(share)) throw nothingThere("path below a share of a single file");
  const parts = segments.map(decode).filter((part) => part !== "");
  for (const part of parts) {
    if (part === "." || part === ".." || part.includes("/") || hasForbiddenCharacter(part)) {
      throw nothingThere("path segment that could lead out of the share");
    }
  }
  const wantsDirectory = segments.at(-1) === "" && parts.length > 0;
  return `${share.path}${parts.join("/")}${wantsDirectory ? "/" : ""}`;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw nothingThere("path segment with a broken percent encoding", error);
  }
}
