/** Event of an XML document, with local element names; lines count from 1. */
export type XmlEvent =
  | {
    readonly kind: "open";
    readonly name: string;
    readonly attributes: ReadonlyMap<string, string>;
    readonly line: number;
    readonly start: number;
  }
  | { readonly kind: "close"; readonly name: string; readonly line: number }
  /** Text up to the next tag or comment, with references and CDATA resolved. */
  | { readonly kind: "text"; readonly text: string; readonly line: number };

/** Error for a text that is no XML or has a document type. */
export class InvalidXml extends Error {
  constructor(readonly expected: string, readonly line: number) {
    super(`line ${line}: ${expected}`);
  }
}

const BLANKS = " \t\r\n";
const NAME = /[A-Za-z_\u0080-\uffff][\w.:\u0080-\uffff-]*/y;
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));|&/g;
const NO_XML_ATTRIBUTES: ReadonlyMap<string, string> = new Map();
const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

/**
 * Streaming XML reader, for slices of large files. Refuses document types, hence external entities, and drops
 * namespace prefixes: it checks signed documents before the library that verifies them parses them.
 */
export class XmlReader {
  #at = 0;
  #line = 1;
  #lineEnd: number;
  readonly #open: string[] = [];
  #empty = false; // the innermost element is `<name/>`
  #rootSeen = false;

  /** @param maxDepth Map files and XUUDB answers need fewer than ten levels. */
  constructor(readonly text: string, readonly maxDepth = 32) {
    this.#lineEnd = endOfLine(text, 0);
    if (text.startsWith("\ufeff")) this.#at = 1;
    const declaration = /^<\?xml[ \t\r\n][^>]*\?>/.exec(text.slice(this.#at, this.#at + 1000))?.[0] ?? "";
    this.#at += declaration.length;
    const encoding = /encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)/.exec(declaration)?.[1] ?? "utf-8";
    // deno-lint-ignore no-control-regex
    if (!/^utf-8$/i.test(encoding) && /[^\x00-\x7f]/.test(text)) this.#fail('encoding="UTF-8" here');
  }

  get position(): number {
    return this.#at;
  }

  /** Returns the next event; `undefined` at the end. @throws {InvalidXml} */
  next(): XmlEvent | undefined {
    if (this.#empty) return this.#closed(this.#at);
    for (;;) {
      if (this.#at >= this.text.length) {
        if (!this.#rootSeen || this.#open.length > 0) this.#fail("more, the document is not complete");
        return undefined;
      }
      const event = this.text[this.#at] === "<" ? this.#markup() : this.#text();
      if (event !== undefined) return event;
    }
  }

  #text(): XmlEvent | undefined {
    const start = this.#at;
    const stop = this.text.indexOf("<", start);
    this.#at = stop < 0 ? this.text.length : stop;
    const text = this.text.slice(start, this.#at);
    if (this.#open.length > 0) {
      return { kind: "text", text: this.#resolve(text, start), line: this.#lineAt(start) };
    }
    if (!/^[ \t\r\n]*$/.test(text)) this.#fail("no text outside of the root element", start);
    return undefined;
  }

  #markup(): XmlEvent | undefined {
    const start = this.#at;
    switch (this.text[start + 1]) {
      case "/":
        return this.#closeTag(start);
      case "?":
        if (/^<\?xml[ \t\r\n]/i.test(this.text.slice(start, start + 6))) {
          this.#fail("no second XML declaration");
        }
        this.#skipTo("?>");
        return undefined;
      case "!":
        if (this.text.startsWith("<!--", start)) {
          this.#at += 4;
          this.#skipTo("-->");
          return undefined;
        }
        if (!this.text.startsWith("<![CDATA[", start) || this.#open.length === 0) {
          this.#fail("no document type and no entities: they are not read");
        }
        this.#skipTo("]]>");
        return {
          kind: "text",
          text: this.#checked(this.text.slice(start + 9, this.#at - 3), start),
          line: this.#lineAt(start),
        };
      default:
        return this.#openTag(start);
    }
  }

  #openTag(start: number): XmlEvent {
    if (this.#open.length === 0 && this.#rootSeen) this.#fail("one root element");
    if (this.#open.length >= this.maxDepth) this.#fail(`at most ${this.maxDepth} levels`);
    this.#rootSeen = true;
    this.#at++;
    const qualified = this.#name();
    const attributes = this.#attributes();
    this.#empty = this.text[this.#at] === "/";
    if (this.#empty) this.#at++;
    this.#expect(">");
    this.#open.push(qualified);
    return { kind: "open", name: localName(qualified), attributes, line: this.#lineAt(start), start };
  }

  #attributes(): ReadonlyMap<string, string> {
    if (this.text[this.#at] === ">") return NO_XML_ATTRIBUTES;
    const attributes = new Map<string, string>();
    for (;;) {
      const blank = this.#skipBlanks();
      const found = this.text[this.#at];
      if (found === ">" || found === "/") return attributes;
      if (!blank) this.#fail("a blank, / or >");
      const name = this.#name();
      if (attributes.has(name)) this.#fail(`each attribute once, ${name} stands here again`);
      attributes.set(name, this.#attributeValue());
    }
  }

  #attributeValue(): string {
    this.#skipBlanks();
    this.#expect("=");
    this.#skipBlanks();
    const quote = this.text[this.#at];
    if (quote !== '"' && quote !== "'") this.#fail('="value"');
    const start = this.#at + 1;
    this.#at = start;
    this.#skipTo(quote);
    const value = this.text.slice(start, this.#at - 1);
    if (value.includes("<")) this.#fail("&lt; instead of < in a value", start);
    return this.#resolve(value, start).replaceAll("\n", " ");
  }

  #closeTag(start: number): XmlEvent {
    this.#at += 2;
    const expected = this.#open.at(-1) ?? this.#fail("no closing tag", start);
    if (!this.text.startsWith(expected, this.#at)) this.#fail(`</${expected}>`, start);
    this.#at += expected.length;
    this.#skipBlanks();
    this.#expect(">");
    return this.#closed(start);
  }

  #closed(at: number): XmlEvent {
    this.#empty = false;
    return { kind: "close", name: localName(this.#open.pop() ?? ""), line: this.#lineAt(at) };
  }

  #name(): string {
    NAME.lastIndex = this.#at;
    if (!NAME.test(this.text)) this.#fail("a name");
    const name = this.text.slice(this.#at, NAME.lastIndex);
    this.#at = NAME.lastIndex;
    return name;
  }

  #resolve(text: string, at: number): string {
    return this.#checked(text, at).replace(
      REFERENCE,
      (_, name?: string, decimal?: string, hexadecimal?: string) => {
        const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : parseInt(decimal, 10);
        const valid = code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
        const character = PREDEFINED.get(name ?? "") ?? (valid ? String.fromCodePoint(code) : undefined);
        return this.#checked(
          character ?? this.#fail("&lt; &gt; &amp; &quot; &apos; or a character by number", at),
          at,
        );
      },
    );
  }

  #checked(text: string, at: number): string {
    if (CONTROL.test(text)) this.#fail("no control characters", at);
    return text;
  }

  #expect(character: string): void {
    if (this.text[this.#at] !== character) this.#fail(character);
    this.#at++;
  }

  #skipTo(end: string): void {
    const found = this.text.indexOf(end, this.#at);
    if (found < 0) this.#fail(`${end} further on`);
    this.#at = found + end.length;
  }

  #skipBlanks(): boolean {
    const start = this.#at;
    while (BLANKS.includes(this.text[this.#at] ?? "<")) this.#at++;
    return this.#at > start;
  }

  #lineAt(position: number): number {
    while (this.#lineEnd < position) {
      this.#line++;
      this.#lineEnd = endOfLine(this.text, this.#lineEnd + 1);
    }
    return this.#line;
  }

  #fail(expected: string, at = this.#at): never {
    throw new InvalidXml(`expected ${expected}`, this.#lineAt(at));
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
