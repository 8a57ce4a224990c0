import { KINDS } from "../service/kinds.ts";
import { join } from "node:path";
import { loadConfiguration } from "../config/load.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import { type Diagnostic, formatDiagnostic, isError } from "../model/diagnostic.ts";
import { SYSTEM_INFO } from "./system_info.ts";
import { CommandFailed, FOLDERS, type Given, MAIN_FILE } from "./command.ts";

/** Returns the first main configuration file; assumes it in an existing folder that this account may not enter. */
export async function installedFile(folders: readonly string[] = FOLDERS): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, MAIN_FILE);
    try {
      await Deno.stat(file);
      return file;
    } catch (error) {
      const { NotADirectory, NotFound, PermissionDenied } = Deno.errors;
      const isDenied = error instanceof PermissionDenied;
      if (isDenied && await Deno.lstat(folder).catch(() => undefined)) return file;
      if (!(isDenied || error instanceof NotFound || error instanceof NotADirectory)) throw error;
    }
  }
  return undefined;
}

/** Returns the main configuration file of a command. @throws {CommandFailed} If it is neither given nor in {@link FOLDERS}. */
export async function configFile(
  given: Pick<Given<"config", never>, "text">,
  folders: readonly string[] = FOLDERS,
): Promise<string> {
  const file = given.text("config") ?? await installedFile(folders);
  if (file !== undefined) return file;
  const places = folders.map((folder) => join(folder, MAIN_FILE)).join(" nor ");
  throw new CommandFailed(
    `There is neither ${places}; expected --config FILE, or authserver init to make one`,
  );
}

/** Reads the configuration of a command. @throws {CommandFailed} If it is missing or invalid. */
export async function usableConfiguration(
  given: Pick<Given<"config", never>, "text">,
): Promise<{ readonly file: string; readonly config: ServiceConfig }> {
  const file = await configFile(given);
  const { config, diagnostics } = await loadConfiguration(file, { kinds: KINDS, ...SYSTEM_INFO });
  if (config === undefined) throw unusableConfiguration(file, diagnostics);
  return { file, config };
}

/** Creates the error for an invalid configuration. */
export function unusableConfiguration(file: string, diagnostics: readonly Diagnostic[]): CommandFailed {
  const errors = diagnostics.filter(isError).map(formatDiagnostic);
  return new CommandFailed([`The configuration in ${file} cannot be used`, ...errors].join("\n"));
}
