/** A line for a terminal, and what it does. */
interface CommandLine {
  readonly what: string;
  readonly line: string;
}

/**
 * Lines of the stock client `pyuftp` for one server, those that most people need first; the Java client `uftp` takes the
 * same ones.
 * @param href The server's address, `https://…/rest/auth/<server>`.
 * @param user Of a caller who has a password; others show a key.
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

/** A word that a POSIX shell takes as it is. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
