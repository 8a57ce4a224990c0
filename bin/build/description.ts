/** What all packages say of the service. */
export const SUMMARY = "Auth service for UFTP file transfer";

/** Lines of at most 79 characters. */
export const DESCRIPTION = [
  "Authenticates users over HTTPS, maps them to accounts with their limits,",
  "commands transfer daemons (UFTPD) to expect them, and tells where to connect",
  "with a one-time secret. Shares data between users on request.",
] as const;

/** Package of the Java service, which listens on the same port and has the same clients. */
export const CONFLICTS = "unicore-authserver";

/**
 * Whom packages name as their maintainer: who makes them, as `DEBFULLNAME` and `DEBEMAIL` say (devscripts(1)); else nobody,
 * at an address that cannot be anybody's (RFC 2606, 2).
 */
export function maintainer(environment = (name: string) => Deno.env.get(name)): string {
  const [name, address] = [environment("DEBFULLNAME"), environment("DEBEMAIL")];
  return name && address ? `${name} <${address}>` : "No maintainer named <nobody@authserver.invalid>";
}
