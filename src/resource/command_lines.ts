interface CommandLine {
  readonly what: string;
  readonly line: string;
}

/**
 * Returns command lines of `pyuftp` for one server, most useful first; the Java client `uftp` accepts the same.
 * @param user Of a caller with a password; others show a key.
 */
export function commandLines(href: string, user: string | undefined): CommandLine[] {
  const how = user === undefined ? "-u <user> -i ~/.ssh/id_ed25519" : `-u ${shellWord(user)} -P`;
  const at = (path: string) => shellWord(`${href}:${path}`);
  return [
    { what: "Get a file", line: `pyuftp cp ${how} ${at("./file.dat")} .` },
    { what: "Put a file", line: `pyuftp cp ${how} file.dat ${at("./")}` },
    { what: "List your home directory", line: `pyuftp ls ${how} ${at("./")}` },
    { what: "Get address and one-time password for another client", line: `pyuftp auth ${how} ${at("./")}` },
  ];
}

/** Quotes a word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
