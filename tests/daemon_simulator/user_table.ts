/** Account of the daemon's host. The simulator does all work as the user of the test. */
export interface User {
  readonly uid: number;
  /** Absolute path, which need not exist; empty if the account has no home. */
  readonly home: string;
  /** Primary group first. */
  readonly groups: readonly string[];
  /**
   * Text of key files by path below the home directory; `Error` for an unreadable file, `null` for a file
   * whose read never ends.
   */
  readonly keyFiles?: Readonly<Record<string, string | Error | null>>;
}

/** Accounts by name; may be changed while the daemon runs. */
export type UserTable = Map<string, User>;

/**
 * Returns the daemon's reason why it cannot work as an account (daemon-protocol.md 1.8); `undefined` if it
 * can.
 * @param groups Requested groups, primary first; `NONE` first stands for the account's own.
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
