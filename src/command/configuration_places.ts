import { join } from "node:path";

/** Name of the main configuration file. */
export const MAIN_FILE = "container.properties";

/** Folders of the configuration, in search order. */
export const FOLDERS = ["conf", "/etc/authserver"] as const;

/** Returns the search path of a configuration file for the help. */
export function placesOf(name: string): string {
  return FOLDERS.map((folder) => join(folder, name)).join(", or else ");
}
