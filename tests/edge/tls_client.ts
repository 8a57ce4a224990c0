import { once } from "node:events";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { inTime } from "../fixtures/deadline.ts";

/** Opens a raw TLS connection to the edge, on which tests can violate the protocol. */
export async function openTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  return socket;
}

/** Returns all text that the peer sends until it closes; fails if it never does. */
export function readAll(socket: AsyncIterable<Uint8Array>): Promise<string> {
  return inTime(readToEnd(socket), "the end of the connection");
}

async function readToEnd(socket: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const part of socket) text += decoder.decode(part, { stream: true });
  } catch (error) {
    // A peer may end with a reset after an answer; the answer is valid.
    if (text === "") throw error;
  }
  return text;
}
