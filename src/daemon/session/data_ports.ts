import { isIPv4 } from "node:net";
import { HttpError, httpError } from "../../model/http_error.ts";
import type { ControlConnection } from "./control_connection.ts";
import { GuardedSocket } from "./guarded_socket.ts";
import { refusal } from "./reply_reader.ts";
import type { SessionTimes } from "./session_times.ts";

/** Error for a refused data port. The session is lost: the daemon waits for a connection. */
export class DataPortRefused extends HttpError {
  constructor(port: number, cause: unknown) {
    super(
      "ERR_LISTEN_SOCKET_UNREACHABLE",
      { reason: `No data connection to port ${port}, PASV from now on` },
      cause,
    );
  }
}

/**
 * Opens data connections (daemon-protocol.md 5.7): `EPSV` to the control connection's peer; after a refusal `PASV` with
 * its IPv4 address, since a daemon with `ADVERTISE_HOST` listens only there.
 */
export class DataPorts {
  #command: "EPSV" | "PASV" = "EPSV";

  /** @param host Configured listen host. */
  constructor(readonly host: string, readonly times: SessionTimes) {}

  /**
   * Opens a data connection.
   * @throws {DataPortRefused} If a new session should use the other command.
   * @throws {ERR_LISTEN_SOCKET_UNREACHABLE | ERR_DAEMON_SESSION}
   */
  open(control: ControlConnection): Promise<GuardedSocket> {
    return this.#command === "EPSV" ? this.#extended(control) : this.#passive(control);
  }

  async #extended(control: ControlConnection): Promise<GuardedSocket> {
    const reply = await control.command("EPSV");
    const port = reply.code === 229 ? Number(/\(\|\|\|(\d{1,5})\|\)/.exec(reply.text)?.[1]) : NaN;
    if (!isPort(port)) throw refusal("EPSV", reply);
    try {
      return await connectToPeer(control.socket, this.host, port, this.times);
    } catch (error) {
      const isRefused = causeOf(error) instanceof Deno.errors.ConnectionRefused;
      if (!isRefused || !isIPv4(control.socket.connection.remoteAddr.hostname)) throw error;
      this.#command = "PASV";
      throw new DataPortRefused(port, error);
    }
  }

  async #passive(control: ControlConnection): Promise<GuardedSocket> {
    const reply = await control.command("PASV");
    const numbers = /\((\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3})\)/.exec(reply.text);
    const [high = NaN, low = NaN] = (numbers ?? []).slice(5).map(Number);
    const address = (numbers ?? []).slice(1, 5).join(".");
    const port = high * 256 + low;
    if (reply.code !== 227 || !isPort(port) || !isIPv4(address)) throw refusal("PASV", reply);
    try {
      return await GuardedSocket.connect(address, port, this.times.connectMs, control.socket.signal);
    } catch (error) {
      this.#command = "EPSV";
      if (!(causeOf(error) instanceof Deno.errors.NotCapable)) throw error;
      // Only addresses of the configured host are allowed, whatever the daemon says.
      const message = `Daemon advertises ${address}, which is no address of its configured host ${this.host}`;
      throw httpError("ERR_LISTEN_SOCKET_UNREACHABLE", message, error);
    }
  }
}

/** Connects to the same peer, by name if only the name is permitted. */
export async function connectToPeer(
  socket: GuardedSocket,
  host: string,
  port: number,
  times: SessionTimes,
): Promise<GuardedSocket> {
  const { hostname } = socket.connection.remoteAddr;
  try {
    return await GuardedSocket.connect(hostname, port, times.connectMs, socket.signal);
  } catch (error) {
    if (!(causeOf(error) instanceof Deno.errors.NotCapable)) throw error;
    return await GuardedSocket.connect(host, port, times.connectMs, socket.signal);
  }
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65535;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}
