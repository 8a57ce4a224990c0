import { strip, systemError } from "./python_text.ts";
import { loginObstacle, type UserTable } from "./user_table.ts";

const KEY_FILES = [".ssh/authorized_keys", ".uftp/authorized_keys"];

/**
 * Returns the reply to a user information request (daemon-protocol.md 2), without the final LF.
 * @param user Value of the request's key `user`, `undefined` if it has none.
 * @returns `undefined` if the daemon closes without a reply, `null` if its child process never ends.
 */
export function userInfo(
  users: UserTable,
  user: string | undefined,
  version: string,
): string | undefined | null {
  if (user === undefined || user.includes("\0")) return undefined;
  const name = strip(user);
  if (name === "root") return "500 Not allowed";
  const entry = users.get(name);
  if (entry === undefined || entry.home === "") return "500 No such user or no home directory found";
  const obstacle = loginObstacle(users, name, ["NONE"]);
  if (obstacle !== undefined) return `530 Not logged in: ${obstacle}`;
  const lines = [`Version: ${version}`, `User: ${name}`, `Home: ${entry.home}`];
  let [index, status] = [0, ""];
  for (const path of KEY_FILES) {
    const file = `${entry.home}/${path}`;
    const found = entry.keyFiles?.[path];
    if (found === null) return null;
    const content = found ?? systemError("ENOENT", file);
    status += ` keyfile ${file} : ${typeof content === "string" ? "OK" : content.message}`;
    if (typeof content !== "string") continue;
    for (const line of fileLines(content)) {
      if (!line.startsWith("#")) lines.push(`Accepted key ${index++}: ${strip(line)}`);
    }
  }
  return [...lines, `Status:${status}`, ""].join("\n");
}

function fileLines(content: string): string[] {
  const lines = content.split(/\r\n?|\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
