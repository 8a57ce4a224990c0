import { basename, dirname, join } from "node:path";
import { failedAt, type Given, MAIN_FILE, WrongUsage } from "../../command.ts";
import { open } from "node:fs/promises";
import { exists } from "../../../model/regular_file.ts";
import type { SampleFile } from "./sample_file.ts";

/** Options for target and script names of an installation; `config` replaces that of other commands. */
export const SETUP_OPTIONS = {
  directory: {
    value: "DIR",
    help: "Folder of the installation (default: the working directory); created if necessary",
  },
  config: {
    value: "FILE",
    help: `Main configuration file to write, DIR/conf/${MAIN_FILE}: the same as --directory DIR`,
  },
  "scripts-prefix": {
    value: "NAME",
    help: "Name the scripts NAME-authserver-start.sh and so on, as the Java service's are",
  },
} as const;

/** Returns the folder that the options select, if any. @throws {WrongUsage} If they conflict, or the file does not suit relative paths. */
export function installationFolder(
  given: Pick<Given<"directory" | "config", never>, "text">,
): string | undefined {
  const [directory, file] = [given.text("directory"), given.text("config")];
  if (file === undefined) return directory;
  if (directory !== undefined) throw new WrongUsage("Expected --directory or --config, found both");
  const conf = dirname(file);
  if (basename(file) === MAIN_FILE && basename(conf) === "conf") return join(conf, "..");
  throw new WrongUsage(`Expected a file such as DIR/conf/${MAIN_FILE} behind --config, found ${file}`);
}

/** Returns the site's prefix of script names. @throws {WrongUsage} If a file name cannot contain it. */
export function prefixOf(given: Pick<Given<"scripts-prefix", never>, "text">): string | undefined {
  const prefix = given.text("scripts-prefix");
  if (prefix === undefined || /^[A-Za-z0-9][\w.-]*$/.test(prefix)) return prefix;
  throw new WrongUsage(`Expected letters, digits, - _ and . behind --scripts-prefix, found ${prefix}`);
}

/** Writes a file unless it exists. @returns Whether it was written. @throws {CommandFailed} */
export async function writeNew(path: string, { mode, text }: SampleFile): Promise<boolean> {
  try {
    if (await exists(path)) return false;
    await Deno.mkdir(dirname(path), { recursive: true });
    await using file = await open(path, "wx", mode);
    await file.chmod(mode); // despite the umask; by the open file, since its folder may belong to another account
    await file.writeFile(text);
    return true;
  } catch (error) {
    failedAt(path, error);
  }
}
