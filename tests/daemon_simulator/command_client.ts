import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Credential } from "../pki/authority.ts";

/** Port of a command socket, client credential and trusted authority; without a credential, plain TCP. */
export interface CommandTarget {
  readonly port: number;
  readonly credential?: Credential;
  readonly trusted?: string;
}

/** Reply on a command connection, and the way it ended. */
export interface Exchange {
  readonly reply: string;
  /** `end`, or the code of the error. */
  readonly end: string;
}

/** Opens a command connection and waits for the end of its handshake. */
export function openCommand({ port, credential, trusted }: CommandTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const address = { host: "127.0.0.1", port };
    const socket = credential === undefined ? connectTcp(address, () => resolve(socket)) : connectTls({
      ...address,
      cert: credential.certificate,
      key: credential.key,
      ca: trusted === undefined ? [] : [trusted],
      checkServerIdentity: () => undefined,
    }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Sends bytes and reads to the end of the connection. Knows nothing of the protocol. */
export async function exchange(target: CommandTarget, request: string | Uint8Array): Promise<Exchange> {
  const socket = await openCommand(target);
  return await new Promise((resolve) => {
    let [reply, end] = ["", "end"];
    socket.setEncoding("utf8");
    socket.on("data", (text) => reply += text);
    socket.on("error", (error) => end = "code" in error ? String(error.code) : error.message);
    socket.once("close", () => resolve({ reply, end }));
    socket.once("end", () => socket.destroy());
    socket.write(request);
  });
}
