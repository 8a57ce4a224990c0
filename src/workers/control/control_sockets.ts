import { dirname, join } from "node:path";
import type { ControlConfig, LoggingConfig } from "../../config/service_config.ts";

/** Name of the socket in whatever folder it is. */
const NAME = "control.sock";

/** Where systemd puts it (`RuntimeDirectory=authserver`), for commands that are not run by systemd. */
const SYSTEM_FOLDER = "/run/authserver";

interface Place {
  readonly control: ControlConfig;
  readonly logging: LoggingConfig;
  readonly environment: (name: string) => string | undefined; // value of an environment variable
}

/** Where the service listens for its operator's commands; `undefined` if nowhere. */
export function ownControlSocket({ control, logging, environment }: Place): string | undefined {
  if (!control.enabled || control.socket !== undefined) return control.socket;
  const [folder = besideLog(logging)] = runtimeFolders(environment);
  return folder && join(folder, NAME);
}

/** Where commands look for the service, the likeliest place first. */
export function controlSockets(place: Place): readonly string[] {
  const { control } = place;
  if (!control.enabled) return [];
  return control.socket === undefined ? usualSockets(place) : [control.socket];
}

/** As {@link controlSockets}, and the usual places: a service that has not read the configuration yet may be there. */
export function formerControlSockets(place: Place): readonly string[] {
  return [...new Set([...controlSockets(place), ...usualSockets(place)])];
}

function usualSockets({ logging, environment }: Place): readonly string[] {
  const beside = besideLog(logging);
  const folders = [...runtimeFolders(environment), ...(beside === undefined ? [] : [beside]), SYSTEM_FOLDER];
  return [...new Set(folders)].map((folder) => join(folder, NAME));
}

/** `RUNTIME_DIRECTORY` as systemd sets it: paths with colons between them. */
function runtimeFolders(environment: Place["environment"]): string[] {
  return (environment("RUNTIME_DIRECTORY") ?? "").split(":").filter((folder) => folder.startsWith("/"))
    .slice(0, 1);
}

function besideLog({ file }: LoggingConfig): string | undefined {
  return file === undefined ? undefined : dirname(file);
}
