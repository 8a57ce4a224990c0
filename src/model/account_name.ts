/**
 * Whether a text may be a Unix account or group name in a daemon command. Checked before any daemon is contacted, for
 * verified and unverified names alike (daemon-protocol.md 1.10, authentication.md 3.10). Names of a domain, as winbind has
 * them, are two plain names with a backslash between.
 */
export function isAccountName(text: string): boolean {
  return /^(?:[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}\\)?[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}\$?$/.test(text);
}

/** Whether a name is one that no session may run as: uid 0 goes by these names, or by its number, in a domain too. */
export function isPrivilegedAccount(name: string): boolean {
  const own = name.slice(name.lastIndexOf("\\") + 1);
  return own === "root" || own === "toor" || /^0+$/.test(own);
}

/** Names of groups with colons between, as daemons take them: the first is the primary group. Not checked, each once. */
export function groupNames(text: string): readonly string[] {
  const names = text.split(":").filter((name) => name !== "");
  return names.length === 0 ? [text] : [...new Set(names)];
}

/** Whether a text may be the account or group of a user: a name, and no privileged one. */
export function isUserAccount(name: string): boolean {
  return isAccountName(name) && !isPrivilegedAccount(name);
}
