import type { Diagnostic } from "../model/diagnostic.ts";
import { KeyReader } from "./key_reader.ts";
import type { LoadOptions } from "./load.ts";
import { loadProperties } from "./load_properties.ts";
import { readControl, readLogging } from "./read_site.ts";
import type { ControlConfig, LoggingConfig } from "./service_config.ts";

/**
 * Reads only the control socket's settings, so that commands work while the file is being edited.
 * @returns `undefined` with diagnostics if even these are invalid.
 */
export async function loadControl(
  mainFile: string,
  { environment, workingDirectory = Deno.cwd() }: Omit<LoadOptions, "kinds">,
): Promise<
  | { readonly control: ControlConfig; readonly logging: LoggingConfig }
  | { readonly diagnostics: readonly Diagnostic[] }
> {
  const diagnostics: Diagnostic[] = [];
  const properties = await loadProperties(mainFile, { environment, workingDirectory }, diagnostics);
  if (properties.entries.size === 0) return { diagnostics };
  const reader = new KeyReader(properties, workingDirectory, diagnostics);
  const logging = readLogging(reader);
  const control = readControl(reader);
  return logging === undefined || control === undefined ? { diagnostics } : { ...control, ...logging };
}
