import { attempt } from "./attempt.ts";
import { escapeNameValue, InvalidName, parseName } from "./distinguished_name.ts";

/** Returns the unmet expectation of a template of names; `undefined` if valid. @param example Claim for the message. */
export function templateDiagnostic(template: string, example: string): string | undefined {
  const names = namesIn(template);
  if (template.split("%").length % 2 === 0) {
    return `expected claims between two percent signs, such as %${example}%`;
  }
  if (names.length === 0) return `expected a claim such as %${example}%, or all users would have one name`;
  const odd = names.find((name) => !/^[A-Za-z0-9_.:\/-]{1,100}$/.test(name));
  if (odd !== undefined) return `expected the name of a claim, found %${odd.slice(0, 100)}%`;
  return attempt(
    () => void parseName(fillName(template, () => "x") ?? ""),
    InvalidName,
    ({ message }) => `expected a distinguished name: ${message}`,
  );
}

/** Returns the names between percent signs. */
export function namesIn(template: string): readonly string[] {
  return template.split("%").filter((_, i) => i % 2 === 1);
}

/** Fills names between percent signs, escaped (RFC 4514, 2.4); `undefined` if a value is. */
export function fillName(template: string, value: (name: string) => string | undefined): string | undefined {
  const parts = template.split("%").map((part, i) => {
    if (i % 2 === 0) return part;
    const found = value(part);
    return found === undefined ? undefined : escapeNameValue(found);
  });
  return parts.includes(undefined) ? undefined : parts.join("");
}
