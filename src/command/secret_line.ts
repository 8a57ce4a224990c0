/** State of a hidden input line. */
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
