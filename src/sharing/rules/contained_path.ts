import { nothingThere } from "../../daemon/session/session_errors.ts";
import { isDirectory, type Share } from "../share.ts";
import { hasForbiddenCharacter } from "../../model/absolute_path.ts";

/**
 * Resolves a request path inside a share, never outside (D7).
 * @param segments Percent-encoded path behind the share's id, split at `/`; a last empty segment requests a directory.
 * @throws {ERR_NOT_FOUND} For invalid UTF-8, `.`, `..`, encoded slashes, control characters, or a path below a file.
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
