import { type Given, WrongUsage } from "../../arguments.ts";

/** Option for the site's prefix of script names. */
export const PREFIX_OPTION = {
  value: "NAME",
  help: "Prefix of script names: NAME-authserver-start.sh and so on, as in the Java service",
} as const;

/** Returns the prefix. @throws {WrongUsage} If it is no part of a file name. */
export function prefixOf(given: Pick<Given<"scripts-prefix", never>, "text">): string | undefined {
  const prefix = given.text("scripts-prefix");
  if (prefix === undefined || /^[A-Za-z0-9][\w.-]*$/.test(prefix)) return prefix;
  throw new WrongUsage(`Expected letters, digits, - _ and . behind --scripts-prefix, found ${prefix}`);
}
