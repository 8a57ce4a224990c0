import { type AdminRequest, formatAdminRequest, MAX_REPLY } from "../../resource/admin/admin_request.ts";
import { InvalidLine, readLine, writeLine } from "./line_reader.ts";

/** Error: no service listens on the paths. */
export class NotRunning extends Error {
  constructor(readonly paths: readonly string[]) {
    super(
      paths.length === 0
        ? "the configuration switches the control socket off"
        : `no service listens at ${paths.join(" or ")}`,
    );
  }
}

/** Error of a request that failed or was refused; the message is for the operator. */
export class ServiceRefused extends Error {}

/** Asks the running service. @param paths Possible sockets, in order. @throws {NotRunning | ServiceRefused} */
export async function askService(
  paths: readonly string[],
  request: AdminRequest,
  withinMs: number,
): Promise<unknown> {
  const connection = await connectFirst(paths);
  const timer = setTimeout(() => connection.close(), withinMs);
  try {
    await writeLine(connection, formatAdminRequest(request));
    return resultOf(await readLine(connection, MAX_REPLY));
  } catch (error) {
    if (error instanceof ServiceRefused) throw error;
    const reason = error instanceof InvalidLine ? error.message : `no answer within ${withinMs / 1000} s`;
    throw new ServiceRefused(`The service gave no answer: ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
    try {
      connection.close();
    } catch {
      // closed by the timer
    }
  }
}

async function connectFirst(paths: readonly string[]): Promise<Deno.UnixConn> {
  for (const path of paths) {
    try {
      return await Deno.connect({ transport: "unix", path });
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) {
        throw new ServiceRefused(`${path}: permission denied, run this as the service's user or as root`);
      }
      const absent = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotADirectory;
      if (!absent) {
        throw new ServiceRefused(`${path}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  throw new NotRunning(paths);
}

function resultOf(line: string): unknown {
  let reply: unknown;
  try {
    reply = JSON.parse(line);
  } catch {
    throw new ServiceRefused("The service gave an answer that is not JSON");
  }
  if (typeof reply === "object" && reply !== null && "ok" in reply) {
    if (reply.ok === true && "result" in reply) return reply.result;
    if ("error" in reply && typeof reply.error === "string") throw new ServiceRefused(reply.error);
  }
  throw new ServiceRefused("The service gave an answer that this command does not understand");
}
