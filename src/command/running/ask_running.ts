import { attempt } from "../../model/attempt.ts";
import { dirname, resolve } from "node:path";
import { closeQuietly } from "../../model/regular_file.ts";
import { type Diagnostic, formatDiagnostic } from "../../model/diagnostic.ts";
import { messageOf } from "../../model/text.ts";
import { type AdminRequest, formatAdminRequest, MAX_REPLY } from "../../resource/admin/admin_request.ts";
import {
  controlSockets,
  formerControlSockets,
  readLine,
  SYSTEM_SOCKET,
  writeLine,
} from "../../workers/control_socket.ts";
import { CommandFailed, type Given } from "../command.ts";
import { configFile } from "../config_option.ts";
import { localIds, nameOf, SYSTEM_PATHS } from "../diagnosis/service_account.ts";
import { textAt } from "./answer.ts";
import { SYSTEM_INFO } from "../system_info.ts";
import { KeyReader } from "../../config/key_reader.ts";
import { loadProperties } from "../../config/properties.ts";
import { readControl, readLogging } from "../../config/read_site.ts";

/** Options of every command that connects to a running service, besides the common ones. */
export const SERVICE_OPTIONS = {
  socket: {
    value: "PATH",
    help: "Control socket of the service. If not given, taken from the configuration",
  },
} as const;

/** Option that names a user, as bans and tokens know users. */
export const USER_OPTION = {
  user: { value: "NAME", help: "User name at sign-in, Unix account, or distinguished name" },
} as const;

const ANSWER_MS = 40_000; // longest wait for an answer, in milliseconds; asking daemons takes longest

/** Asks the running service that the options select. @throws {CommandFailed} */
export async function askRunning(
  given: Pick<Given<"config" | keyof typeof SERVICE_OPTIONS, never>, "text">,
  request: AdminRequest,
  withinMs: number = ANSWER_MS,
): Promise<unknown> {
  const socket = given.text("socket");
  const where = request.command === "reload" ? formerControlSockets : controlSockets;
  if (socket !== undefined) return await askService([socket], request, withinMs);
  const file = await configFile(given);
  return await askServiceOf(file, await configuredSockets(file, where), request, withinMs);
}

/** Asks the service with this main file: that of the system only if it uses this file, too. @throws {CommandFailed} */
export async function askServiceOf(
  file: string,
  paths: readonly string[],
  request: AdminRequest,
  withinMs: number,
  system = SYSTEM_SOCKET,
): Promise<unknown> {
  const own = paths.filter((path) => path !== system);
  const isCertain = own.length === paths.length || dirname(resolve(file)) === SYSTEM_PATHS.folder;
  if (isCertain) return await askService(paths, request, withinMs);
  try {
    return await askService(own, request, withinMs);
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
  }
  const status = await askService([system], { command: "status" }, withinMs).catch((error: Error) => {
    if (error.cause instanceof Deno.errors.PermissionDenied) throw new NotRunning(own, `; ${error.message}`);
    throw error instanceof NotRunning ? new NotRunning(paths) : error;
  });
  const real = (path: string) => Deno.realPath(path).catch(() => path);
  if (await real(textAt(status, "configuration") ?? "") !== await real(file)) throw new NotRunning(own);
  return await askService([system], request, withinMs);
}

/** Error if no service listens on the paths. */
export class NotRunning extends CommandFailed {
  constructor(readonly paths: readonly string[], more = "") {
    const listens = paths.length === 0
      ? "the configuration switches the control socket off, or no service with this configuration runs"
      : `no service listens at ${paths.join(" or ")}`;
    super(listens + more);
  }
}

/** Asks the running service. @param paths Possible sockets, in order. @throws {CommandFailed} */
export async function askService(
  paths: readonly string[],
  request: AdminRequest,
  withinMs: number,
): Promise<unknown> {
  const connection = await connectFirst(paths);
  using _timer = setTimeout(() => connection.close(), withinMs);
  try {
    await writeLine(connection, formatAdminRequest(request));
    return resultOf(await readLine(connection, MAX_REPLY));
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    const isLate = error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted;
    const reason = isLate ? `no answer within ${withinMs / 1000} s` : messageOf(error);
    throw new CommandFailed(`The service gave no answer: ${reason}`, { cause: error });
  } finally {
    closeQuietly(connection); // unless the timer already did
  }
}

async function connectFirst(paths: readonly string[]): Promise<Deno.UnixConn> {
  for (const path of paths) {
    try {
      return await Deno.connect({ transport: "unix", path });
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) {
        const expected = "permission denied, run this as the service's user or as root";
        throw new CommandFailed(`${path}: ${expected}`, { cause: error });
      }
      const absent = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotADirectory;
      if (!absent) throw new CommandFailed(`${path}: ${messageOf(error)}`);
    }
  }
  throw new NotRunning(paths);
}

function resultOf(line: string): unknown {
  const reply: unknown = attempt(() => JSON.parse(line), SyntaxError, () => {
    throw new CommandFailed("The service gave an answer that is not JSON");
  });
  if (typeof reply === "object" && reply !== null && "ok" in reply) {
    if (reply.ok === true && "result" in reply) return reply.result;
    if ("error" in reply && typeof reply.error === "string") throw new CommandFailed(reply.error);
  }
  throw new CommandFailed("The service gave an answer that this command does not understand");
}

/**
 * Returns the sockets of a configuration. Relative paths start in this folder or in the parent of the configuration's.
 * Reads only the settings of the control socket, so that commands work while the file is being edited.
 */
async function configuredSockets(file: string, where: typeof controlSockets): Promise<readonly string[]> {
  const { environment } = SYSTEM_INFO;
  const folders = new Set([Deno.cwd(), dirname(dirname(resolve(file)))]);
  const paths: string[] = [];
  for (const workingDirectory of folders) {
    const diagnostics: Diagnostic[] = [];
    const properties = await loadProperties(file, { environment, workingDirectory }, diagnostics);
    const reader = new KeyReader(properties, workingDirectory, diagnostics);
    const [logging, control] = [readLogging(reader), readControl(reader)];
    if (logging && control && properties.entries.size > 0) {
      paths.push(...where({ ...control, ...logging, environment }));
    } else if (paths.length === 0) {
      const expected = "expected --socket PATH or a configuration that can be read";
      const why = diagnostics.map(formatDiagnostic);
      throw new CommandFailed([`The control socket is not known, ${expected}`, ...why].join("\n"));
    }
  }
  return [...new Set(paths)];
}

/** Returns the account that runs a command, for the audit log: that behind `sudo`, else the process's own. */
export async function operator(
  environment: (name: string) => string | undefined = (name) => Deno.env.get(name),
  uid: () => number | null = Deno.uid,
  passwd = "/etc/passwd",
): Promise<string> {
  for (const name of ["SUDO_USER", "LOGNAME", "USER"]) {
    const value = environment(name);
    if (value !== undefined && value !== "") return value;
  }
  return nameOf(await localIds(passwd), uid()) ?? `uid ${uid()}`;
}
