import { withInvisibleShown } from "../model/absolute_path.ts";

/**
 * Markup whose texts are escaped. Made by {@link markup} (and for style sheets and scripts by {@link Markup.style} and
 * {@link Markup.script}) only, so that no text becomes markup by accident.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** A `style` element with exactly this text, so that its hash is that of the text. */
  static style(text: string): Markup {
    if (text.includes("<")) throw new TypeError("a style sheet must not hold <");
    return new Markup(`<style>${text}</style>`);
  }

  /** A `script` element with exactly this text, for the end of a page. */
  static script(text: string): Markup {
    if (/<[!/s]/i.test(text)) {
      throw new TypeError("a script must not hold what could end or nest its element");
    }
    return new Markup(`<script>${text}</script>`);
  }

  /** @internal For {@link markup}, which has escaped every value. */
  static join(strings: readonly string[], values: readonly Content[]): Markup {
    return new Markup(strings.map((text, i) => text + render(values[i])).join(""));
  }
}

/** What stands in a page: text, markup, several of them in a row, or nothing. */
export type Content = string | number | Markup | readonly Content[] | undefined | false;

/** A template whose values are escaped, for elements and quoted attributes alike. */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return Markup.join(strings, values);
}

/**
 * A name that somebody chose: whatever its writing direction, the text around it keeps its own (HTML, 4.5.24). What cannot be
 * seen in it is shown escaped, so that no name looks like another.
 */
export function isolated(name: string): Markup {
  return markup`<bdi>${withInvisibleShown(name)}</bdi>`;
}

function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Markup) return content.toString();
  if (typeof content === "object") return content.map(render).join("");
  return String(content).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}
