import { escapeNameValue, parseName } from "../../model/distinguished_name.ts";

/** Fills a DN template: `%s` becomes the escaped user name. */
export function nameFromTemplate(template: string, user: string): string {
  return template.replaceAll("%s", () => escapeNameValue(user));
}

/** @throws {InvalidName} If the template makes no DN. */
export function checkTemplate(template: string): void {
  parseName(nameFromTemplate(template, "user"));
}
