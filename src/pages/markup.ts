import { withInvisibleShown } from "../model/absolute_path.ts";

export type Language = "en" | "de" | "fr";

/** Content that depends on the reader's language. */
export interface InLanguage {
  in(language: Language): Content;
}

/** Markup that escapes its values. Only {@link markup}, {@link Markup.style} and {@link Markup.script} create it. */
export class Markup {
  readonly #strings: readonly string[];
  readonly #values: readonly Content[];

  private constructor(strings: readonly string[], values: readonly Content[] = []) {
    this.#strings = strings;
    this.#values = values;
  }

  toString(language: Language = "en"): string {
    return this.#strings.map((text, i) => text + render(this.#values[i], language)).join("");
  }

  /** Returns a `style` element with exactly this text, which the policy's hash covers. */
  static style(text: string): Markup {
    if (text.includes("<")) throw new TypeError("a style sheet must not hold <");
    return new Markup([`<style>${text}</style>`]);
  }

  /** Returns a `script` element with exactly this text. */
  static script(text: string): Markup {
    if (/<[!/s]/i.test(text)) {
      throw new TypeError("a script must not hold what could end or nest its element");
    }
    return new Markup([`<script>${text}</script>`]);
  }

  /** @internal For {@link markup}, which escapes every value. */
  static join(strings: readonly string[], values: readonly Content[]): Markup {
    return new Markup(strings, values);
  }
}

export type Content = string | number | Markup | InLanguage | readonly Content[] | undefined | false;

/** Returns a template with escaped values, for elements and quoted attributes. */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return Markup.join(strings, values);
}

/** Isolates the writing direction of a user's text (HTML, 4.5.24) and escapes invisible characters, so that no name imitates another. */
export function isolated(name: string): Markup {
  return markup`<bdi>${withInvisibleShown(name)}</bdi>`;
}

/** Returns content without markup as text, not escaped. @throws {TypeError} For markup. */
export function plain(content: Content, language: Language): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Markup) throw new TypeError("markup where only text can be");
  if (typeof content !== "object") return String(content);
  return "in" in content
    ? plain(content.in(language), language)
    : content.map((each) => plain(each, language)).join("");
}

function render(content: Content, language: Language): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Markup) return content.toString(language);
  if (typeof content !== "object") {
    return String(content).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
  }
  return "in" in content
    ? render(content.in(language), language)
    : content.map((each) => render(each, language)).join("");
}
