import type { Socket } from "node:net";

/** Flow control. On Deno 2.9, `pause()` of a TLS socket keeps reading, so this stops the TCP handle below. */
export function backPressureOf(socket: Socket): { stop(): void; start(): void } {
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
