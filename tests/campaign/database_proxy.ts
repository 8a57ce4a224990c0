/** Proxy between an instance and its database that can hang, reset, or refuse connections. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** Treatment of connections: pass bytes on, hold them back, or reset open and new connections. */
type Manner = "pass" | "hang" | "reset" | "refuse";

/** A TCP proxy in front of a port of this machine. */
export class DatabaseProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #manner: Manner = "pass";

  /** @param target Port that new connections go to. */
  private constructor(public target: number) {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(target: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Changes the treatment of all connections, including open connections. */
  set(manner: Manner): void {
    this.#manner = manner;
    for (const pair of [...this.#pairs]) {
      if (manner === "reset" || manner === "refuse") { for (const socket of pair) socket.resetAndDestroy(); }
      else for (const socket of pair) manner === "hang" ? socket.pause() : socket.resume();
    }
  }

  #accept(client: Socket): void {
    if (this.#manner === "refuse" || this.#manner === "reset") {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.target, "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [[client, server], [server, client]] as const) {
      from.on("data", (bytes) => to.write(bytes));
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
    }
    if (this.#manner === "hang") { for (const socket of pair) socket.pause(); }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const pair of [...this.#pairs]) for (const socket of pair) socket.destroy();
    await closed;
  }
}
