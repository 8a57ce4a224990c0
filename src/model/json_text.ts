/** JSON value with its line, from 1. */
export type JsonNode =
  | { readonly kind: "string"; readonly text: string; readonly line: number }
  | { readonly kind: "number" | "boolean" | "null"; readonly text: string; readonly line: number }
  | { readonly kind: "array"; readonly items: readonly JsonNode[]; readonly line: number }
  | { readonly kind: "object"; readonly members: readonly JsonMember[]; readonly line: number };

export interface JsonMember {
  readonly name: string;
  readonly line: number; // of the name
  readonly value: JsonNode;
}

interface SourceMember extends JsonMember {
  readonly source: string;
}

/** Error for a text that is no JSON or repeats a name within an object. */
export class InvalidJson extends Error {
  constructor(readonly expected: string, readonly line: number) {
    super(`line ${line}: ${expected}`);
  }
}

const MAX_DEPTH = 32;

/**
 * Reads the members of a text's one object lazily (RFC 8259, and a trailing comma, as the Java service does); a
 * repeated name is an error. @throws {InvalidJson}
 */
export function* readMembers(text: string): Generator<SourceMember, void> {
  const reader = new JsonReader(text);
  if (text.startsWith("\ufeff")) reader.at = 1;
  yield* reader.document();
}

// deno-lint-ignore no-control-regex
const PLAIN = /[^"\\\x00-\x1f]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...['"', "\\", "/"].map((c): [string, string] => [c, c]),
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

class JsonReader {
  at = 0;
  #line = 1;

  constructor(readonly text: string) {}

  *document(): Generator<SourceMember, void> {
    this.#skipBlanks();
    if (this.text[this.at] !== "{") this.#fail("{");
    const names = new Set<string>();
    for (let more = this.#hasMore("}"); more; more = this.#continues("}")) {
      const start = this.at;
      const { name, line, value } = this.#member(names, 1);
      yield { name, line, value, source: this.text.slice(start, this.at) };
    }
    this.#skipBlanks();
    if (this.at < this.text.length) this.#fail("nothing more after the closing }");
  }

  #member(names: Set<string>, depth: number): JsonMember {
    const line = this.#line;
    if (this.text[this.at] !== '"') this.#fail('a name in "quotes"');
    const name = this.#string();
    if (names.has(name)) {
      throw new InvalidJson(`expected each name once, found ${JSON.stringify(name)} again`, line);
    }
    names.add(name);
    this.#skipBlanks();
    if (this.text[this.at] !== ":") this.#fail(":");
    this.at++;
    this.#skipBlanks();
    return { name, line, value: this.#value(depth) };
  }

  #value(depth: number): JsonNode {
    const line = this.#line;
    switch (this.text[this.at]) {
      case '"':
        return { kind: "string", text: this.#string(), line };
      case "[": {
        this.#checkDepth(depth);
        const items: JsonNode[] = [];
        for (let more = this.#hasMore("]"); more; more = this.#continues("]")) {
          items.push(this.#value(depth + 1));
        }
        return { kind: "array", items, line };
      }
      case "{": {
        this.#checkDepth(depth);
        const names = new Set<string>();
        const members: JsonMember[] = [];
        for (let more = this.#hasMore("}"); more; more = this.#continues("}")) {
          members.push(this.#member(names, depth + 1));
        }
        return { kind: "object", members, line };
      }
      default:
        return this.#scalar(line);
    }
  }

  /** Skips an opening bracket or a comma, and the closing bracket if it follows. Returns whether an element follows. */
  #hasMore(close: "}" | "]"): boolean {
    this.at++;
    this.#skipBlanks();
    if (this.text[this.at] !== close) return true;
    this.at++;
    return false;
  }

  /** Skips a comma or the closing bracket. Returns false after the bracket. */
  #continues(close: "}" | "]"): boolean {
    this.#skipBlanks();
    const found = this.text[this.at];
    if (found === ",") return this.#hasMore(close);
    if (found !== close) this.#fail(`, or ${close}`);
    this.at++;
    return false;
  }

  #scalar(line: number): JsonNode {
    SCALAR.lastIndex = this.at;
    const text = SCALAR.exec(this.text)?.[0];
    if (text === undefined) this.#fail("a value");
    this.at += text.length;
    if (/[\w.+-]/.test(this.text[this.at] ?? "")) this.#fail("a value");
    const kind = text === "null" ? "null" : text === "true" || text === "false" ? "boolean" : "number";
    return { kind, text, line };
  }

  #string(): string {
    let value = "";
    let start = ++this.at;
    for (;;) {
      PLAIN.lastIndex = start;
      PLAIN.test(this.text);
      const stop = this.at = PLAIN.lastIndex;
      // Nearly all strings have one piece.
      value = value === "" ? this.text.slice(start, stop) : value + this.text.slice(start, stop);
      if (this.text[stop] === '"') break;
      if (this.text[stop] !== "\\") this.#fail('the closing "');
      value += this.#escape();
      start = this.at;
    }
    this.at++;
    return value;
  }

  #escape(): string {
    const simple = ESCAPES.get(this.text[this.at + 1] ?? "");
    if (simple !== undefined) {
      this.at += 2;
      return simple;
    }
    const code = /^\\u([0-9A-Fa-f]{4})/.exec(this.text.slice(this.at, this.at + 6))?.[1];
    if (code === undefined) this.#fail("an escape such as \\n or \\u00fc");
    this.at += 6;
    return String.fromCharCode(parseInt(code, 16));
  }

  #checkDepth(depth: number): void {
    if (depth >= MAX_DEPTH) this.#fail(`at most ${MAX_DEPTH} levels`);
  }

  #skipBlanks(): void {
    for (;;) {
      const found = this.text[this.at];
      if (found === "\n") this.#line++;
      else if (found !== " " && found !== "\t" && found !== "\r") return;
      this.at++;
    }
  }

  #fail(expected: string): never {
    const found = this.text.codePointAt(this.at);
    const what = found === undefined ? "the end" : JSON.stringify(String.fromCodePoint(found));
    throw new InvalidJson(`expected ${expected}, found ${what}`, this.#line);
  }
}
