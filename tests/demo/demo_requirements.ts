import { CommandFailed } from "../../src/command/command.ts";

/**
 * What several instances need besides the service.
 * @param found Where this machine has it.
 * @throws {CommandFailed} With all that is missing, and how it is installed.
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
