/** A port on which nobody accepts any more: the system drops what wants to connect. */
export class FullBacklog {
  private constructor(readonly listener: Deno.Listener, readonly waiting: readonly Deno.Conn[]) {}

  /** Listens, and connects until no more connections are taken. */
  static async on(port: number): Promise<FullBacklog> {
    const address = { hostname: "127.0.0.1", port };
    const listener = Deno.listen(address);
    const waiting: Deno.Conn[] = [];
    for (;;) {
      const connection = Deno.connect(address);
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, LATE_MS));
      const taken = await Promise.race([connection, late]);
      if (taken === undefined) {
        connection.then((conn) => conn.close(), () => {}); // it ends with the listener
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

/** A connection on loopback that is not there by then waits in vain. */
const LATE_MS = 500;
