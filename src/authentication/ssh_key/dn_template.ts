import { escapeNameValue, parseName } from "../../model/distinguished_name.ts";

/** The names that users get whose key a daemon reported, unless another template is configured (specification 5). */
export const DEFAULT_DN_TEMPLATE = "CN=%s, OU=ssh-local-users";

/** The name of a user: each `%s` of the template is replaced by the user name, escaped for a DN. */
export function nameFromTemplate(template: string, user: string): string {
  return template.replaceAll("%s", () => escapeNameValue(user));
}

/** @throws {InvalidName} If the template is none for a DN. */
export function checkTemplate(template: string): void {
  parseName(nameFromTemplate(template, "user"));
}
