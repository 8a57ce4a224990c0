import type { Parse } from "./watched_file.ts";

/**
 * A parser of a watched file of lines that refuses a save that looks broken off, so that the content in use stays until
 * the file changes again. A line that is cut off may well be readable and say something else, such as a shorter name
 * that is another user's.
 * @returns Throws `SyntaxError` besides what `parse` throws. For one file alone: it remembers the last good text.
 */
export function wholeLines<T>(parse: Parse<T>): Parse<T> {
  /** The text in use. Lines cut out of it by a parser keep it in memory anyway. */
  let earlier = "";
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

/**
 * Whether the last line of a text has no line end and is the beginning of a longer line of the earlier text. Any other
 * last line needs no line end, so that files written by hand remain valid.
 */
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
