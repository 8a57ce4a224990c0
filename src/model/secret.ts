/** Secret text that prints as `***` in templates, JSON, inspection and logs. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text; call this only where it is used. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "***";
  }

  toJSON(): string {
    return "***";
  }

  [Symbol.for("Deno.customInspect")](): string {
    return "***";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "***";
  }
}
