import type { Socket } from "node:net";
import { LineSplitter } from "./line_splitter.ts";
import { strip } from "./python_text.ts";

/** The control connection is at its end. */
export class ControlClosed extends Error {
  override readonly name = "ControlClosed";
}

/** A control connection: lines in, replies out (daemon-protocol.md 5.1). */
export class ControlChannel {
  readonly #splitter = new LineSplitter();
  #wake: (() => void) | undefined;
  #failure: unknown;
  /** Lines as received, stripped, passwords replaced by `***`. */
  readonly received: string[] = [];

  constructor(readonly socket: Socket) {
    socket.setNoDelay(true); // else the second of two replies waits 40 ms for the client's system
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

  /** The next line, stripped. @throws {ControlClosed | Undecodable} */
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

  /** Closes once all replies are handed to the system. */
  async close(): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => this.socket.write("", () => resolve()));
    this.socket.destroy();
  }
}
