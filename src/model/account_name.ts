/** Reports whether a text is a valid account or group name, also as `DOMAIN\name` (daemon-protocol.md 1.10). */
export function isAccountName(text: string): boolean {
  return /^(?:[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}\\)?[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}\$?$/.test(text);
}

/** Reports whether a name means uid 0, by number or with a domain too; no session may run as it. */
export function isPrivilegedAccount(name: string): boolean {
  const own = name.slice(name.lastIndexOf("\\") + 1);
  return own === "root" || own === "toor" || /^0+$/.test(own);
}

/** Splits unchecked group names by colons, primary group first, without duplicates. */
export function groupNames(text: string): readonly string[] {
  const names = text.split(":").filter((name) => name !== "");
  return names.length === 0 ? [text] : [...new Set(names)];
}

/** Reports whether a session may run as this account or group. */
export function isUserAccount(name: string): boolean {
  return isAccountName(name) && !isPrivilegedAccount(name);
}
