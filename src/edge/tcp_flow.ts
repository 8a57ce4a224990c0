import type { Socket } from "node:net";

/** Stops and starts the reading of a connection's bytes from the system. */
export interface TcpFlow {
  stop(): void;
  start(): void;
}

/**
 * A TLS socket of Deno 2.9 goes on reading while it is paused, and keeps all that comes in memory: a client that sends
 * faster than its upload is written could fill that. So the TCP handle below is stopped too. It has no public name;
 * where there is none, as with plain HTTP, the pause of the socket is enough.
 */
export function tcpFlow(socket: Socket): TcpFlow {
  const handle = member(member(socket, "_handle"), "_parent");
  const call = (name: "readStop" | "readStart") => {
    const method = member(handle, name);
    if (typeof method === "function" && !socket.destroyed) Reflect.apply(method, handle, []);
  };
  return { stop: () => call("readStop"), start: () => call("readStart") };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
