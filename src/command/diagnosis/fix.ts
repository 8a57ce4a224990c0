import { type Diagnostic, formatDiagnostic, readableAt } from "../../model/diagnostic.ts";
import { printable } from "../../model/text.ts";

const PROPERTY = /^(?:container|authservice|share|persistence)\.[^\s=,:]*\w/;

/** Returns a one-line remedy: that of the diagnostic, or one derived from its expected value and place. */
export function fixOf({ file, line, key = "", expected, fix }: Diagnostic): string {
  if (fix !== undefined) return fix;
  const place = line === undefined ? file : `${file}:${line}`;
  const [, meant] = expected.split("did you mean ", 2);
  if (meant !== undefined) return `write ${meant.replace("?", "")} at ${place}`;
  const [, command] = expected.split("convert it: ", 2);
  if (command !== undefined) return `${command} # then name the new file at ${place}`;
  const [path = "", reason] = expected.split(": cannot read it: ", 2);
  if (reason !== undefined) return readableAt(path);
  const [where = "", wanted] = expected.split(/expected /i, 2);
  if (wanted === undefined) return key === "" ? `correct ${place}` : `remove ${place}, or change it`;
  if (/\beither\b/.test(wanted)) return `keep one of them: see ${place}`;
  if (/right password/.test(wanted)) return `correct the password that is set beside ${key} at ${place}`;
  const [other] = PROPERTY.exec(wanted) ?? [];
  if (other !== undefined) {
    const [, value = "<value>"] = wanted.slice(other.length).split(/^=(\S+)/, 2);
    return `add ${other}=${value} to ${file}`;
  }
  const [what = ""] = wanted.split(/; |, (?:not|this|which) |(?<! ): (?=[a-z]|$)/, 1);
  if (!PROPERTY.test(key)) return `write ${what} at ${place}`;
  if (/^(?:[A-Z]+|true)$/.test(what)) return `set ${key}=${what} at ${place}`;
  return `set ${key}=<${where.endsWith(": ") ? "a file with " : ""}${what}> at ${place}`; // for an unusable file
}

/** Returns a diagnostic and its remedy, each on a line. */
export function withRemedy(diagnostic: Diagnostic): string {
  return `${diagnostic.severity}: ${formatDiagnostic(diagnostic)}\n  fix: ${printable(fixOf(diagnostic))}\n`;
}
