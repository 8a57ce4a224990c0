import { dirname, join } from "node:path";
import type { ControlConfig, LoggingConfig } from "../../config/service_config.ts";

const NAME = "control.sock";

/** Folder that systemd creates (`RuntimeDirectory=authserver`), for commands outside of systemd. */
const SYSTEM_FOLDER = "/run/authserver";

interface Place {
  readonly control: ControlConfig;
  readonly logging: LoggingConfig;
  readonly environment: (name: string) => string | undefined;
}

/** Returns the path of the service's own socket; `undefined` if it has none. */
export function ownControlSocket({ control, logging, environment }: Place): string | undefined {
  if (!control.enabled || control.socket !== undefined) return control.socket;
  const [folder = besideLog(logging)] = runtimeFolders(environment);
  return folder && join(folder, NAME);
}

/** Returns the paths where commands look for the service, the likeliest first. */
export function controlSockets(place: Place): readonly string[] {
  const { control } = place;
  if (!control.enabled) return [];
  return control.socket === undefined ? usualSockets(place) : [control.socket];
}

/** Returns also the usual paths, for a service with an earlier configuration. */
export function formerControlSockets(place: Place): readonly string[] {
  return [...new Set([...controlSockets(place), ...usualSockets(place)])];
}

function usualSockets({ logging, environment }: Place): readonly string[] {
  const beside = besideLog(logging);
  const folders = [...runtimeFolders(environment), ...(beside === undefined ? [] : [beside]), SYSTEM_FOLDER];
  return [...new Set(folders)].map((folder) => join(folder, NAME));
}

/** Splits `RUNTIME_DIRECTORY`, which systemd separates by colons. */
function runtimeFolders(environment: Place["environment"]): string[] {
  return (environment("RUNTIME_DIRECTORY") ?? "").split(":").filter((folder) => folder.startsWith("/"))
    .slice(0, 1);
}

function besideLog({ file }: LoggingConfig): string | undefined {
  return file === undefined ? undefined : dirname(file);
}
