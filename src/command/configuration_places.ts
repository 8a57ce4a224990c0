import { join } from "node:path";

/** Name of the main configuration file in whatever folder it is. */
export const MAIN_FILE = "container.properties";

/** Where the configuration is: that of an installation in the working directory, else that of the system. */
export const FOLDERS = ["conf", "/etc/authserver"] as const;

/** Where a file of the configuration is looked for, for the help. */
export function placesOf(name: string): string {
  return FOLDERS.map((folder) => join(folder, name)).join(", or else ");
}
