import type { Diagnostic } from "../model/diagnostic.ts";
import { KeyReader } from "./key_reader.ts";
import type { LoadOptions } from "./load.ts";
import { loadProperties } from "./load_properties.ts";
import { readControl, readLogging } from "./read_site.ts";
import type { ControlConfig, LoggingConfig } from "./service_config.ts";

/**
 * Reads only what it takes to find a running service. So its operator can ask it how it is while the file, half edited,
 * is not one that it could start with.
 * @returns `undefined` if even that cannot be read; the problems say why.
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
