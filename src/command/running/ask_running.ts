import { dirname, resolve } from "node:path";
import { type Diagnostic, formatDiagnostic } from "../../model/diagnostic.ts";
import { askService, NotRunning, ServiceRefused } from "../../workers/control/ask_service.ts";
import type { AdminRequest } from "../../resource/admin/admin_request.ts";
import { controlSockets, formerControlSockets } from "../../workers/control/control_sockets.ts";
import { CommandFailed } from "../command.ts";
import type { Given } from "../arguments.ts";
import { configFile } from "../config_option.ts";
import { SURROUNDINGS } from "../surroundings.ts";
import { KeyReader } from "../../config/key_reader.ts";
import type { LoadOptions } from "../../config/load.ts";
import { loadProperties } from "../../config/properties.ts";
import { readControl, readLogging } from "../../config/read_site.ts";
import type { ControlConfig, LoggingConfig } from "../../config/service_config.ts";

/** Options of every command that speaks with a running service, besides those of all. */
export const SERVICE_OPTIONS = {
  socket: {
    value: "PATH",
    help: "Control socket of the service. If not given, taken from the configuration",
  },
} as const;

/** Longest wait for an answer, in milliseconds; asking daemons takes longest. */
const ANSWER_MS = 40_000;

/**
 * Asks the running service that the options mean.
 * @param withinMs Longest wait for the answer.
 * @throws {NotRunning} @throws {CommandFailed}
 */
export async function askRunning(
  given: Pick<Given<"config" | keyof typeof SERVICE_OPTIONS, never>, "text">,
  request: AdminRequest,
  withinMs: number = ANSWER_MS,
): Promise<unknown> {
  const socket = given.text("socket");
  const where = request.command === "reload" ? formerControlSockets : controlSockets;
  const paths = socket === undefined ? await configuredSockets(await configFile(given), where) : [socket];
  try {
    return await askService(paths, request, withinMs);
  } catch (error) {
    if (error instanceof ServiceRefused) throw new CommandFailed(error.message, { cause: error });
    throw error;
  }
}

/** As {@link askRunning}, for commands that are of no use without a service. @throws {CommandFailed} */
export async function requireRunning(...args: Parameters<typeof askRunning>): Promise<unknown> {
  try {
    return await askRunning(...args);
  } catch (error) {
    if (error instanceof NotRunning) throw new CommandFailed(error.message, { cause: error });
    throw error;
  }
}

/** Relative paths start where the service runs: that is this folder, or for a service in a folder of its own that folder. */
async function configuredSockets(file: string, where: typeof controlSockets): Promise<readonly string[]> {
  const { environment } = SURROUNDINGS;
  const folders = new Set([Deno.cwd(), dirname(dirname(resolve(file)))]);
  const paths: string[] = [];
  for (const workingDirectory of folders) {
    const found = await loadControl(file, { environment, workingDirectory });
    if ("control" in found) paths.push(...where({ ...found, environment }));
    else if (paths.length === 0) throw notKnown(found.diagnostics);
  }
  return [...new Set(paths)];
}

function notKnown(diagnostics: readonly Diagnostic[]): CommandFailed {
  return new CommandFailed(
    `The control socket is not known, expected --socket PATH or a configuration that can be read\n${
      diagnostics.map(formatDiagnostic).join("\n")
    }`,
  );
}

/**
 * Reads only the control socket's settings, so that commands work while the file is being edited.
 * @returns `undefined` with diagnostics if even these are invalid.
 */
async function loadControl(
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
