import type { Logger } from "../logging/logger.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type Parse, type WatchedFile, watchFile } from "./watched_file.ts";

/** Watches a file by {@link wholeLines}, and logs unusable lines. @param what Names the file. @throws As {@link watchFile}. */
export async function watchLines<T extends { readonly diagnostics: readonly Diagnostic[] }>(
  path: string,
  parse: Parse<T>,
  { what, log }: { readonly what: string; readonly log: Logger },
): Promise<WatchedFile<T>> {
  const onChange = ({ diagnostics }: T) => {
    for (const { file, line, expected } of diagnostics) {
      log.warn(`line of the ${what} not used`, { file, line, reason: expected });
    }
  };
  const watched = await watchFile(path, wholeLines(parse), { log, onChange });
  onChange(watched.current);
  return watched;
}

/**
 * Wraps a parser to refuse truncated saves, since a cut line may be valid with another meaning, such as a shorter name.
 * @returns Throws `SyntaxError` besides what `parse` throws. For one file only, since it is stateful.
 */
export function wholeLines<T>(parse: Parse<T>): Parse<T> {
  let earlier = ""; // current text, which parsed lines retain anyway
  return async (text, file) => {
    if (endsWithinLine(text, earlier)) {
      throw new SyntaxError(
        "the last line has no line end and is the beginning of an earlier one, as if the save had broken off: " +
          "save it again, with a line end at the end if it is meant so",
      );
    }
    const content = await parse(text, file);
    earlier = text;
    return content;
  };
}

/** Reports whether the last line is an unterminated prefix of an earlier line; any other needs no line end. */
export function endsWithinLine(text: string, earlier: string): boolean {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  if (last === "") return false;
  const [lines, sought] = [`\n${earlier}`, `\n${last}`];
  let begun = false;
  for (let at = lines.indexOf(sought); at !== -1; at = lines.indexOf(sought, at + sought.length)) {
    const next = lines[at + sought.length];
    if (next === undefined || next === "\n" || next === "\r") return false;
    begun = true;
  }
  return begun;
}
