import { DatabaseUnavailable } from "../database.ts";
import { Socket } from "node:net";
import type { Connect } from "./postgres_servers.ts";

/** Connects without TLS. */
export const connectPlain: Connect = ({ host, port }, signal) =>
  new Promise((resolve, reject) => {
    const socket = new Socket();
    const abort = () => socket.destroy(signal.reason);
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const settle = () => signal.removeEventListener("abort", abort);
    socket.once("connect", () => {
      settle();
      resolve(socket);
    });
    socket.on("error", (cause) => {
      settle();
      reject(new DatabaseUnavailable(`${host}:${port} cannot be reached: ${cause.message}`, { cause }));
    });
    socket.setNoDelay(true);
    socket.connect(port, host);
  });
