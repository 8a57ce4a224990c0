import { escapeNameValue } from "../../model/distinguished_name.ts";

interface Piece {
  readonly text: string;
  readonly external: boolean;
}

/**
 * Text that tracks its external pieces, which cannot add parts to a distinguished name: `"UID=" + email` with
 * `x,O=Admins` gives `UID=x\,O=Admins` (credentials.md 6.3, 10.15).
 */
export class Text {
  readonly #pieces: readonly Piece[];

  private constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  static own(text: string): Text {
    return new Text([{ text, external: false }]);
  }

  static external(text: string): Text {
    return new Text([{ text, external: true }]);
  }

  static join(texts: readonly Text[]): Text {
    const pieces: { text: string; external: boolean }[] = [];
    for (const { text, external } of texts.flatMap((text) => text.#pieces)) {
      const last = pieces.at(-1);
      if (last?.external === external) last.text += text;
      else if (text !== "") pieces.push({ text, external });
    }
    return new Text(pieces);
  }

  get raw(): string {
    return this.#pieces.map(({ text }) => text).join("");
  }

  get length(): number {
    return this.#pieces.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Returns a text of the same origin, such as the result of `trim`. */
  derive(text: string): Text {
    return new Text([{ text, external: this.external.length > 0 }]);
  }

  get external(): readonly string[] {
    return this.#pieces.flatMap(({ text, external }) => external ? [text] : []);
  }

  get isMixed(): boolean {
    return new Set(this.#pieces.map(({ external }) => external)).size > 1;
  }

  /** Text as a distinguished name: external text is escaped (RFC 4514, 2.4) except where a part begins. */
  get asName(): string {
    let name = "";
    const place = new NamePlace();
    for (const { text, external } of this.#pieces) {
      const written = external && place.inValue ? escapeNameValue(text) : text;
      place.pass(written);
      name += written;
    }
    return name;
  }
}

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

/** User attributes from a provider. */
export type Variables = ReadonlyMap<string, Variable>;
export type Variable = string | readonly Variable[] | Variables;

export type Value = null | boolean | number | Text | List | ReadonlyMap<string, Value> | Iteration;

/** List; one with a single external value may stand for it in text. */
export class List {
  constructor(readonly items: Value[], readonly external: boolean) {}
}

/** Iterator over a copy of a list. */
export class Iteration {
  readonly #items: readonly Value[];
  #next = 0;

  constructor(list: List) {
    this.#items = [...list.items];
  }

  hasNext(): boolean {
    return this.#next < this.#items.length;
  }

  next(): Value | undefined {
    return this.#items[this.#next++];
  }
}

/** Copies a variable, so that programs cannot change it. */
export function toValue(variable: Variable): Value {
  if (typeof variable === "string") return Text.external(variable);
  if (isVariables(variable)) return new Map([...variable].map(([name, member]) => [name, toValue(member)]));
  return new List(variable.map(toValue), true);
}

/** Reports whether a variable has members. */
export function isVariables(variable: Variable | undefined): variable is Variables {
  return variable instanceof Map;
}

/** Converts scalars to text; `undefined` for other values. */
export function scalarText(value: Value): Text | undefined {
  if (value instanceof Text) return value;
  return typeof value === "number" || typeof value === "boolean" ? Text.own(String(value)) : undefined;
}

/** Names a value's type for messages. */
export function describeKind(value: Value): string {
  if (value === null) return "null";
  if (value instanceof Text) return "a text";
  if (value instanceof List) return "a list";
  if (value instanceof Iteration) return "an iterator";
  return typeof value === "object" ? "a map" : typeof value === "number" ? "a number" : "a truth value";
}
