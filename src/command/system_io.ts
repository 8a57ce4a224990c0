import { writeSync } from "node:fs";
import { CommandFailed, type CommandIo } from "./command.ts";
import { isJournal, messagesForJournal } from "../logging/line_forms.ts";
import { SURROUNDINGS } from "./surroundings.ts";

/** Bytes. */
const MAX_INPUT = 64 * 1024;

export const SYSTEM_IO: CommandIo = {
  stdout: (text) => writeAll(1, text),
  stderr: (text) => writeAll(2, toJournal() ? messagesForJournal(text) : text),
  readInput,
  askSecret,
};

/** Cached: a running service drops its permission for the environment. */
let journal: boolean | undefined;

function toJournal(): boolean {
  return journal ??= isJournal(2, SURROUNDINGS.environment);
}

function writeAll(stream: number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += writeSync(stream, bytes, written);
}

async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of Deno.stdin.readable) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_INPUT) throw new CommandFailed(`Expected at most ${MAX_INPUT} bytes on standard input`);
  }
  const bytes = new Uint8Array(length);
  chunks.reduce((offset, chunk) => (bytes.set(chunk, offset), offset + chunk.length), 0);
  return decode(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

async function askSecret(question: string): Promise<string | undefined> {
  if (!Deno.stdin.isTerminal()) return undefined;
  const line = new SecretLine();
  Deno.stdin.setRaw(true);
  try {
    // After echo is off: a fast answer must not show either.
    writeAll(2, question);
    const buffer = new Uint8Array(1024);
    for (let state = line.type(new Uint8Array()); state !== "done";) {
      const length = await Deno.stdin.read(buffer);
      state = length === null ? "cancelled" : line.type(buffer.subarray(0, length));
      if (state === "cancelled") throw new CommandFailed("Broken off");
    }
  } finally {
    Deno.stdin.setRaw(false);
    writeAll(2, "\n");
  }
  return decode(() => line.text);
}

function decode(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof TypeError) throw new CommandFailed("Expected UTF-8 text", { cause });
    throw cause;
  }
}

export type SecretLineState = "typing" | "done" | "cancelled";

const ENTER = [0x0a, 0x0d];
const CANCEL = [0x03]; // Ctrl-C
const END_OF_INPUT = 0x04; // Ctrl-D
const BACKSPACE = [0x08, 0x7f];
const ERASE_LINE = 0x15; // Ctrl-U
const ESCAPE = 0x1b;

/** Line editor for a terminal in raw mode, without echo. */
export class SecretLine {
  readonly #bytes: number[] = [];
  #state: SecretLineState = "typing";

  /** Processes input; drops bytes after the end of the line. */
  type(bytes: Uint8Array): SecretLineState {
    // Drops escape sequences, as of arrow keys.
    if (bytes[0] === ESCAPE) return this.#state;
    for (const byte of bytes) {
      if (this.#state !== "typing") break;
      if (ENTER.includes(byte)) this.#state = "done";
      else if (CANCEL.includes(byte)) this.#state = "cancelled";
      else if (byte === END_OF_INPUT) this.#state = this.#bytes.length === 0 ? "cancelled" : "done";
      else if (BACKSPACE.includes(byte)) this.#eraseCharacter();
      else if (byte === ERASE_LINE) this.#bytes.length = 0;
      else this.#bytes.push(byte);
    }
    return this.#state;
  }

  /** @throws {TypeError} For invalid UTF-8. */
  get text(): string {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(this.#bytes));
  }

  #eraseCharacter(): void {
    let last = this.#bytes.pop();
    // Deletes the whole UTF-8 sequence.
    while (last !== undefined && (last & 0xc0) === 0x80) last = this.#bytes.pop();
  }
}
