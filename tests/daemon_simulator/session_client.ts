import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A bare client of the listen socket: sends lines and collects replies. */
export class SessionClient {
  #text = "";
  #ended = false;
  #wake: (() => void) | undefined;

  private constructor(readonly socket: Socket) {
    socket.setEncoding("utf8");
    socket.setNoDelay(true);
    const wake = (change: () => void) => {
      change();
      this.#wake?.();
    };
    socket.on("data", (text) => wake(() => this.#text += text));
    socket.on("error", () => {});
    socket.once("end", () => wake(() => this.#ended = true));
    socket.once("close", () => wake(() => this.#ended = true));
  }

  static async connect(port: number, host = "127.0.0.1"): Promise<SessionClient> {
    const socket = connect({ host, port });
    await once(socket, "connect");
    return new SessionClient(socket);
  }

  /**
   * Returns the next reply, of one line or several, without its last LF; at the end the rest, marked `<end>`.
   */
  async reply(): Promise<string> {
    for (;;) {
      const match = /^(\d{3}) .*\n|^(\d{3})-[^]*?\n\2 .*\n/.exec(this.#text);
      if (match !== null) {
        this.#text = this.#text.slice(match[0].length);
        return match[0].slice(0, -1);
      }
      if (this.#ended) return `${this.#text}<end>`;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  async command(line: string): Promise<string> {
    this.socket.write(`${line}\n`);
    return await this.reply();
  }

  /** Sends lines one after the other. @returns All replies. */
  async commands(...lines: readonly string[]): Promise<string[]> {
    const replies: string[] = [];
    for (const line of lines) replies.push(await this.command(line));
    return replies;
  }

  /** Reads the greeting, sends user and password. @returns The reply to the password. */
  async logIn(secret: string): Promise<string> {
    await this.reply();
    await this.command("USER anonymous");
    return await this.command(`PASS ${secret}`);
  }

  /** Opens a data connection after `EPSV`. */
  async openData(): Promise<Socket> {
    const port = /\|\|\|(\d+)\|/.exec(await this.command("EPSV"))?.[1];
    const socket = connect({ host: this.socket.remoteAddress, port: Number(port), allowHalfOpen: false });
    await once(socket, "connect");
    return socket;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Reads a data connection to its end, as text. */
export async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8");
  for await (const chunk of socket) text += chunk;
  return text;
}
