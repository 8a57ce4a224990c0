import type { Socket } from "node:net";

/** Stops and starts the reading from a connection. */
export interface BackPressure {
  stop(): void;
  start(): void;
}

/**
 * Flow control for what a client sends. `pause()` of a TLS socket does nothing for it on Deno 2.9: the platform goes on to
 * read from the network and keeps in memory whatever comes. What does help is to stop the TCP handle below TLS.
 */
export function backPressureOf(socket: Socket): BackPressure {
  const transport = member(member(socket, "_handle"), "_parent");
  const stop = member(transport, "readStop");
  const start = member(transport, "readStart");
  if (typeof stop !== "function" || typeof start !== "function") {
    return { stop: () => socket.pause(), start: () => socket.resume() };
  }
  return { stop: () => stop.call(transport), start: () => start.call(transport) };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
