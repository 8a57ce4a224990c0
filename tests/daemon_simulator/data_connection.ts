import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { errorCode, PythonError, systemError } from "./python_text.ts";

/** Data connection that the client opened (daemon-protocol.md 5.7). */
export class DataConnection {
  readonly #incoming: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(private readonly socket: Socket) {
    this.#incoming = socket[Symbol.asyncIterator]();
    socket.on("error", () => {});
  }

  /** Writes with back-pressure. @throws {PythonError} If the client is gone. */
  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.socket.destroyed) throw systemError("EPIPE");
    const flowing = this.socket.write(bytes);
    if (flowing) return;
    const gone = new AbortController();
    const { signal } = gone;
    try {
      await Promise.race([once(this.socket, "drain", { signal }), once(this.socket, "close", { signal })]);
    } catch (error) {
      throw systemError(errorCode(error) || "EPIPE");
    } finally {
      gone.abort();
    }
    if (this.socket.destroyed) throw systemError("ECONNRESET");
  }

  /** Reads up to `limit` bytes; returns no bytes at the end. @throws {PythonError} */
  async read(limit: number): Promise<Uint8Array> {
    if (this.#rest.length === 0) {
      try {
        const { value, done } = await this.#incoming.next();
        if (done === true) return new Uint8Array();
        this.#rest = value;
      } catch (error) {
        throw systemError(errorCode(error) || "ECONNRESET");
      }
    }
    const taken = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Ends the connection after the system took all written bytes. */
  async close(): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => this.socket.write("", () => resolve()));
    this.socket.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Port that waits for one data connection; close it in any case. */
export interface DataPort {
  readonly port: number;
  /** @throws {PythonError} If no client connects before the timeout, or another host does. */
  accept(): Promise<DataConnection>;
  close(): void;
}

export interface DataPortOptions {
  /** Local address to listen on. */
  readonly host: string;
  /** Only address from which the client may connect. */
  readonly peer: string;
  /** Longest wait, in milliseconds. */
  readonly timeout: number;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
}

/** Listens for a data connection on a free port. @throws {PythonError} If the address is not local. */
export async function openDataPort({ host, peer, timeout, signal }: DataPortOptions): Promise<DataPort> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  const first = once(server, "connection", {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  });
  first.catch(() => {});
  try {
    server.listen(0, host);
    await once(server, "listening");
  } catch {
    throw systemError("EADDRNOTAVAIL");
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("Expected a TCP address");
  return {
    port: address.port,
    async accept() {
      const [socket]: Socket[] = await first.catch(() => {
        throw new PythonError("timed out");
      });
      if (socket?.remoteAddress === peer) return new DataConnection(socket);
      socket?.destroy();
      throw new PythonError(
        `Rejecting connection from unexpected host ${socket?.remoteAddress} - expected ${peer}`,
      );
    },
    close: () => void server.close(),
  };
}
