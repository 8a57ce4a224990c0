/** Markup whose texts are escaped. Made by {@link html} (and for style sheets {@link Html.style}) only, so that no text becomes markup by accident. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }

  /** A `style` element with exactly this text, so that its hash is that of the text. */
  static style(text: string): Html {
    if (text.includes("<")) throw new TypeError("A style sheet must not hold <");
    return new Html(`<style>${text}</style>`);
  }

  /** @internal For {@link html}, which has escaped every value. */
  static join(strings: readonly string[], values: readonly Content[]): Html {
    return new Html(strings.map((text, i) => text + (i < values.length ? render(values[i]) : "")).join(""));
  }
}

/** What stands in a page: text, markup, several of them in a row, or nothing. */
export type Content = string | number | Html | readonly Content[] | undefined | false;

/** A template whose values are escaped, for elements and quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return Html.join(strings, values);
}

function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Html) return content.toString();
  if (typeof content === "object") return content.map(render).join("");
  return String(content).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}
