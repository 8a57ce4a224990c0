import { basename, dirname, join } from "node:path";
import { MAIN_FILE } from "../../configuration_places.ts";
import { type Given, WrongUsage } from "../../arguments.ts";

/** The options that say where an installation is made; `config` stands in the place of that of other commands. */
export const FOLDER_OPTIONS = {
  directory: {
    value: "DIR",
    help: "Folder of the installation (default: the working directory); created if necessary",
  },
  config: {
    value: "FILE",
    help: `Main configuration file to write, DIR/conf/${MAIN_FILE}: the same as --directory DIR`,
  },
} as const;

/**
 * Folder of the installation that the options mean; `undefined` if they mean none.
 * @throws {WrongUsage} If they mean two, or a file that paths in a configuration could not be relative to.
 */
export function installationFolder(
  given: Pick<Given<keyof typeof FOLDER_OPTIONS, never>, "text">,
): string | undefined {
  const [directory, file] = [given.text("directory"), given.text("config")];
  if (file === undefined) return directory;
  if (directory !== undefined) throw new WrongUsage("Expected --directory or --config, found both");
  const conf = dirname(file);
  if (basename(file) === MAIN_FILE && basename(conf) === "conf") return join(conf, "..");
  throw new WrongUsage(`Expected a file such as DIR/conf/${MAIN_FILE} behind --config, found ${file}`);
}
