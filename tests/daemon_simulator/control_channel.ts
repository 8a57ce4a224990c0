import type { Socket } from "node:net";
import { LineSplitter } from "./line_splitter.ts";
import { strip } from "./python_text.ts";

/** Error of a control connection that has ended. */
export class ControlClosed extends Error {
  override readonly name = "ControlClosed";
}

/** Control connection: receives lines and sends replies (daemon-protocol.md 5.1). */
export class ControlChannel {
  readonly #splitter = new LineSplitter();
  #wake: (() => void) | undefined;
  #failure: unknown;
  /** Lines as received, stripped, passwords replaced by `***`. */
  readonly received: string[] = [];

  constructor(readonly socket: Socket) {
    socket.setNoDelay(true); // else the second of two replies waits 40 ms for the client's ACK
    const take = (fill: () => void) => {
      try {
        fill();
      } catch (error) {
        this.#failure = error;
      }
      this.#wake?.();
    };
    socket.on("data", (chunk: Uint8Array) => take(() => this.#splitter.push(chunk)));
    socket.once("end", () => take(() => this.#splitter.end()));
    socket.once("close", () => take(() => this.#splitter.end()));
  }

  /** Returns the next line, stripped. @throws {ControlClosed | Undecodable} */
  async readLine(): Promise<string> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const line = this.#splitter.next();
      if (line === "") throw new ControlClosed("The client closed the control connection");
      if (line !== undefined) {
        const text = strip(line);
        this.received.push(/^(PASS|USER) /i.test(text) && text !== "USER anonymous" ? "PASS ***" : text);
        return text;
      }
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Sends a reply of one line or several. */
  reply(text: string): void {
    this.send(`${text}\n`);
  }

  send(bytes: string): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Closes the connection after the system took all replies. */
  async close(): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => this.socket.write("", () => resolve()));
    this.socket.destroy();
  }
}
