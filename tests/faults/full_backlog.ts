/** Port with a full backlog: nobody accepts, and the kernel drops new connections. */
export class FullBacklog {
  private constructor(readonly listener: Deno.Listener, readonly waiting: readonly Deno.Conn[]) {}

  /** Listens, and connects until the kernel takes no more connections. */
  static async on(port: number): Promise<FullBacklog> {
    const address = { hostname: "127.0.0.1", port };
    const listener = Deno.listen(address);
    const waiting: Deno.Conn[] = [];
    for (;;) {
      const connection = Deno.connect(address);
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, LATE_MS));
      const taken = await Promise.race([connection, late]);
      if (taken === undefined) {
        connection.then((conn) => conn.close(), () => {}); // this connection ends with the listener
        return new FullBacklog(listener, waiting);
      }
      waiting.push(taken);
    }
  }

  end(): void {
    this.listener.close();
    for (const connection of this.waiting) connection.close();
  }
}

/** Longest wait for a connection on loopback, in milliseconds; after that, the backlog is full. */
const LATE_MS = 500;
