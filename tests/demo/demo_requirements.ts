import { CommandFailed } from "../../src/command/command.ts";

/**
 * Checks that the programs for several instances are installed.
 * @param found Paths of the programs on this machine.
 * @throws {CommandFailed} With all missing packages, and the command that installs them.
 */
export function requireForSeveral(
  found: { readonly postgres: string | undefined; readonly haproxy: string | undefined },
): void {
  const packages = [
    ...(found.postgres === undefined ? ["postgresql"] : []),
    ...(found.haproxy === undefined ? ["haproxy"] : []),
  ];
  if (packages.length === 0) return;
  throw new CommandFailed(
    `several instances need PostgreSQL and HAProxy; missing here (Debian): apt-get install ${
      packages.join(" ")
    }`,
  );
}
