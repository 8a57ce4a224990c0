import type { Problem } from "../model/problem.ts";
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
  | { readonly problems: readonly Problem[] }
> {
  const problems: Problem[] = [];
  const properties = await loadProperties(mainFile, { environment, workingDirectory }, problems);
  if (properties.entries.size === 0) return { problems };
  const reader = new KeyReader(properties, workingDirectory, problems);
  const logging = readLogging(reader);
  const control = readControl(reader);
  return logging === undefined || control === undefined ? { problems } : { ...control, ...logging };
}
