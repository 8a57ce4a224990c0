import type { Caller } from "../model/identity.ts";

/** Login of a caller, as far as it matters for command lines. */
interface CommandLogin {
  readonly caller: Caller;
  readonly userName?: string | undefined; // of a caller with a password
  readonly script: string | undefined; // address of the login script; absent: no device logins
}

/** Returns the option by which `pyuftp` logs this caller in; Java's `uftp` has the same, but `-o` for `-O`. */
function loginOption({ caller, userName, script }: CommandLogin): string {
  if (userName !== undefined) return `-u ${shellWord(userName)} -P`;
  const { method, login = "USER" } = caller.kind === "anonymous" ? {} : caller.identity;
  if (method === "SSHKEY") return `-u ${shellWord(login)} -i ~/.ssh/id_ed25519`;
  if (script !== undefined) return `-A "$(cat ~/.uftp-token)"`;
  return method === "OAUTH" ? "-O ACCOUNT" : "-A TOKEN";
}

/** Returns command lines of `pyuftp` for one server and this caller, most useful first. */
export function commandLines(href: string, login: CommandLogin) {
  const how = loginOption(login);
  const isByScript = login.script !== undefined && how.startsWith("-A");
  const at = (path: string) => shellWord(`${href}:${path}`);
  return [
    ...(isByScript
      ? [{ what: "Log in, for 8 hours", line: `curl -fsSO ${login.script} && sh login.sh` }]
      : []),
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
