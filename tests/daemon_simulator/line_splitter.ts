const LONGEST_LINE = 8192;

/** Error for bytes that are not UTF-8. */
export class Undecodable extends Error {
  override readonly name = "Undecodable";
}

/**
 * Splitter of bytes into lines, as the daemon reads its sockets (daemon-protocol.md 1.4): UTF-8; LF, CR LF
 * and lone CR end a line and arrive as LF; after 8192 characters a line is cut and its rest is the next line.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #text = "";
  /** Whether the last character was a CR, which may be the first half of a CR LF. */
  #heldReturn = false;
  #ended = false;

  /** Takes bytes from the socket. @throws {Undecodable} */
  push(bytes: Uint8Array): void {
    this.#append(this.#decode(bytes, true));
  }

  /** Ends the input; the rest becomes the last line. @throws {Undecodable} */
  end(): void {
    this.#append(this.#decode(new Uint8Array(), false));
    if (this.#heldReturn) this.#text += "\n";
    this.#heldReturn = false;
    this.#ended = true;
  }

  /** Returns the next line with its LF, if any; `undefined` if it is not complete yet, empty at the end. */
  next(): string | undefined {
    const newline = this.#text.indexOf("\n");
    const { end, count } = measure(this.#text, newline < 0 ? this.#text.length : newline + 1);
    if (newline < 0 && count < LONGEST_LINE && !this.#ended) return undefined;
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return line;
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch (error) {
      throw new Undecodable("The bytes are not UTF-8", { cause: error });
    }
  }

  #append(text: string): void {
    if (text === "") return;
    const whole = this.#heldReturn ? `\r${text}` : text;
    this.#heldReturn = whole.endsWith("\r");
    this.#text += (this.#heldReturn ? whole.slice(0, -1) : whole).replace(/\r\n?/g, "\n");
  }
}

/** Returns the end and number of the first 8192 characters (code points) of a text, up to a limit. */
function measure(text: string, limit: number): { end: number; count: number } {
  let [end, count] = [0, 0];
  while (end < limit && count < LONGEST_LINE) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    count++;
  }
  return { end, count };
}
