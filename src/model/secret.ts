/**
 * Text that must never be shown: a password, a token, a session secret.
 * However it is printed (template, JSON, inspection, log) it reads `***`; only {@link Secret.reveal} gives the text.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself; call this where the text is used, never where it is passed on. */
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
