import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Proxy that supports only CONNECT. */
export interface ConnectProxy extends AsyncDisposable {
  readonly port: number;
  /** Heads of the requests so far. */
  readonly heads: readonly string[];
}

/**
 * Starts a proxy on loopback, which connects to loopback for any requested host.
 * @param answer Returns the answer in place of a tunnel.
 */
export async function startConnectProxy(
  answer?: (head: string) => string | undefined,
): Promise<ConnectProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    keep(socket);
    let head = "";
    const take = (bytes: Uint8Array) => {
      head += new TextDecoder("latin1").decode(bytes);
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", take);
      heads.push(head);
      const instead = answer?.(head);
      if (instead !== undefined) return void socket.end(instead);
      const port = Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]);
      const far = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n");
        socket.pipe(far).pipe(socket);
      });
      keep(far);
      far.on("close", () => socket.destroy());
    };
    socket.on("data", take);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    heads,
    async [Symbol.asyncDispose]() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
