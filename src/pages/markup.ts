import { withInvisibleShown } from "../model/absolute_path.ts";

/**
 * Escaped markup. Only {@link markup}, {@link Markup.style} and {@link Markup.script} create it, so that no text becomes
 * markup by accident.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** Returns a `style` element with exactly this text, which the policy's hash covers. */
  static style(text: string): Markup {
    if (text.includes("<")) throw new TypeError("a style sheet must not hold <");
    return new Markup(`<style>${text}</style>`);
  }

  /** Returns a `script` element with exactly this text. */
  static script(text: string): Markup {
    if (/<[!/s]/i.test(text)) {
      throw new TypeError("a script must not hold what could end or nest its element");
    }
    return new Markup(`<script>${text}</script>`);
  }

  /** @internal For {@link markup}, which escapes every value. */
  static join(strings: readonly string[], values: readonly Content[]): Markup {
    return new Markup(strings.map((text, i) => text + render(values[i])).join(""));
  }
}

/** Content of a page. */
export type Content = string | number | Markup | readonly Content[] | undefined | false;

/** Returns a template with escaped values, for elements and quoted attributes. */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return Markup.join(strings, values);
}

/** Isolates the writing direction of a user's text (HTML, 4.5.24) and escapes invisible characters, so that no name imitates another. */
export function isolated(name: string): Markup {
  return markup`<bdi>${withInvisibleShown(name)}</bdi>`;
}

function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Markup) return content.toString();
  if (typeof content === "object") return content.map(render).join("");
  return String(content).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}
