/** An account as the daemon's host knows it. Nothing runs under it: all work is done as the user of the test. */
export interface User {
  readonly uid: number;
  /** Absolute path; need not exist. Empty: the account has none. */
  readonly home: string;
  /** Primary group first. */
  readonly groups: readonly string[];
  /**
   * Text of key files by path below the home directory; an `Error` is one that cannot be read, `null` one that is never read
   * to its end, a missing one is missing.
   */
  readonly keyFiles?: Readonly<Record<string, string | Error | null>>;
}

/** Accounts by name; may be changed while the daemon runs. */
export type UserTable = Map<string, User>;

/**
 * Why the daemon cannot work as an account, in its words (daemon-protocol.md 1.8); `undefined` if it can.
 * @param groups As requested, primary group first; `NONE` first stands for the account's own.
 */
export function loginObstacle(users: UserTable, name: string, groups: readonly string[]): string | undefined {
  const user = users.get(name);
  if (user === undefined) return `Attempted to select unknown user '${name}'`;
  if (user.uid === 0) return "Attempted to select 'root'";
  const [primary = ""] = groups;
  if (primary === "NONE") return undefined;
  const known = new Set([...users.values()].flatMap((each) => each.groups));
  const obstacle = (group: string, kind: string) => {
    if (group === "DEFAULT_GID") return undefined;
    if (!known.has(group)) return `Attempt to run a task with an unknown ${kind} ${group}`;
    if (!user.groups.includes(group)) return `The user ${name} is not a member of the group ${group}`;
  };
  return obstacle(primary, "primary group:") ??
    groups.map((group) => obstacle(group, "supplementary group")).find((text) => text !== undefined);
}
