import { escapeNameValue } from "../../model/distinguished_name.ts";

/** A piece of text: written by the operator in the expression, or come from outside. */
interface Piece {
  readonly text: string;
  readonly foreign: boolean;
}

/**
 * Text that remembers which of it came from outside, so that a distinguished name can be put together in which nothing
 * from outside can add parts: `"UID=" + email` with `x,O=Admins` names the one user `UID=x\,O=Admins`
 * (authentication.md 6.3, 10.15).
 */
export class Text {
  readonly #pieces: readonly Piece[];

  private constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  static own(text: string): Text {
    return new Text([{ text, foreign: false }]);
  }

  static foreign(text: string): Text {
    return new Text([{ text, foreign: true }]);
  }

  static join(texts: readonly Text[]): Text {
    const pieces: { text: string; foreign: boolean }[] = [];
    for (const { text, foreign } of texts.flatMap((text) => text.#pieces)) {
      const last = pieces.at(-1);
      if (last?.foreign === foreign) last.text += text;
      else if (text !== "") pieces.push({ text, foreign });
    }
    return new Text(pieces);
  }

  /** The text as it is. */
  get raw(): string {
    return this.#pieces.map(({ text }) => text).join("");
  }

  get length(): number {
    return this.#pieces.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** A text made from this one by a method such as `trim`; of the same origin. */
  derive(text: string): Text {
    return new Text([{ text, foreign: this.foreign.length > 0 }]);
  }

  /** The pieces that came from outside. */
  get foreign(): readonly string[] {
    return this.#pieces.flatMap(({ text, foreign }) => foreign ? [text] : []);
  }

  /** Whether both the operator's text and text from outside are in it. */
  get isMixed(): boolean {
    return new Set(this.#pieces.map(({ foreign }) => foreign)).size > 1;
  }

  /**
   * The text as a distinguished name: text from outside that stands within a value is escaped (RFC 4514, 2.4). Text
   * from outside that stands where a part begins is taken for (part of) a name.
   */
  get asName(): string {
    let name = "";
    const place = new NamePlace();
    for (const { text, foreign } of this.#pieces) {
      const written = foreign && place.inValue ? escapeNameValue(text) : text;
      place.pass(written);
      name += written;
    }
    return name;
  }
}

/** Where in a distinguished name one is, after having passed over some of its text. */
class NamePlace {
  inValue = false;
  #quoted = false;
  #escaped = false;

  pass(text: string): void {
    for (const sign of text) {
      if (this.#escaped) this.#escaped = false;
      else if (sign === "\\") this.#escaped = true;
      else if (sign === '"') this.#quoted = this.inValue && !this.#quoted;
      else if (!this.#quoted && sign === "=") this.inValue = true;
      else if (!this.#quoted && /[,;+]/.test(sign)) this.inValue = false;
    }
  }
}
