import { escapeNameValue, parseName } from "../../model/distinguished_name.ts";

/** The name of a user: each `%s` of the template is replaced by the user name, escaped for a DN. */
export function nameFromTemplate(template: string, user: string): string {
  return template.replaceAll("%s", () => escapeNameValue(user));
}

/** @throws {InvalidName} If the template is none for a DN. */
export function checkTemplate(template: string): void {
  parseName(nameFromTemplate(template, "user"));
}
