/** What became of a line that is typed without being shown. */
export type SecretLineState = "typing" | "done" | "cancelled";

const ENTER = [0x0a, 0x0d];
const CANCEL = [0x03]; // Ctrl-C
const END_OF_INPUT = 0x04; // Ctrl-D
const BACKSPACE = [0x08, 0x7f];
const ERASE_LINE = 0x15; // Ctrl-U
const ESCAPE = 0x1b;

/** A line as a terminal in raw mode sends it, key by key. */
export class SecretLine {
  readonly #bytes: number[] = [];
  #state: SecretLineState = "typing";

  /** Takes what was typed. Bytes after the end of the line are dropped. */
  type(bytes: Uint8Array): SecretLineState {
    // Arrow keys and the like come as a sequence of their own, which is part of no password.
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

  /** @throws {TypeError} If it is not UTF-8. */
  get text(): string {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(this.#bytes));
  }

  #eraseCharacter(): void {
    let last = this.#bytes.pop();
    // Continuation bytes of UTF-8 go with the byte that begins the character.
    while (last !== undefined && (last & 0xc0) === 0x80) last = this.#bytes.pop();
  }
}
