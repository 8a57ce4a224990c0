import { type Given, WrongUsage } from "../../arguments.ts";

/** The option that names the scripts as a site knows them. */
export const PREFIX_OPTION = {
  value: "NAME",
  help: "Prefix of script names: NAME-authserver-start.sh and so on, as in the Java service",
} as const;

/** @throws {WrongUsage} If it is no part of a file name. */
export function prefixOf(given: Pick<Given<"scripts-prefix", never>, "text">): string | undefined {
  const prefix = given.text("scripts-prefix");
  if (prefix === undefined || /^[A-Za-z0-9][\w.-]*$/.test(prefix)) return prefix;
  throw new WrongUsage(`Expected letters, digits, - _ and . behind --scripts-prefix, found ${prefix}`);
}
