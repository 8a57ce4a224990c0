import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { until } from "../fixtures/deadline.ts";
import { errorCode } from "./python_text.ts";

/** TCP server that keeps its port over a stop and a new start, and tracks its open connections. */
export class Listener {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(
    readonly host: string,
    private readonly accept: (socket: Socket) => void,
    /** Whether a client that half-closed the connection still gets its reply. */
    private readonly halfOpen = true,
  ) {}

  get port(): number {
    return this.#port;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    // After a stop, a connection of another program may use the port for a while.
    await until(() => this.#listen(), { what: `port ${this.#port} is free`, everyMs: 50 });
  }

  /** Reports whether the port was free. */
  async #listen(): Promise<boolean> {
    const server = createServer({ allowHalfOpen: this.halfOpen }, (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => this.#sockets.delete(socket));
      this.accept(socket);
    });
    server.listen(this.#port, this.host);
    try {
      await once(server, "listening");
    } catch (error) {
      if (errorCode(error) === "EADDRINUSE") return false;
      throw error;
    }
    const address = server.address();
    if (address === null || typeof address === "string") throw new TypeError("Expected a TCP address");
    this.#port = address.port;
    this.#server = server;
    return true;
  }

  /** Stops listening and destroys every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
