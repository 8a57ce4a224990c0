import { type Given, WrongUsage } from "../../arguments.ts";

/** The option that names the scripts as a site knows them. */
export const PREFIX_OPTION = {
  value: "NAME",
  help: "Name the scripts NAME-authserver-start.sh and so on, as the Java service's are",
} as const;

/** @throws {WrongUsage} If it is no part of a file name. */
export function prefixOf(given: Pick<Given<"scripts-prefix", never>, "text">): string | undefined {
  const prefix = given.text("scripts-prefix");
  if (prefix === undefined || /^[A-Za-z0-9][\w.-]*$/.test(prefix)) return prefix;
  throw new WrongUsage(`Expected letters, digits, - _ and . behind --scripts-prefix, found ${prefix}`);
}
