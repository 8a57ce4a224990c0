import { InvalidExpression } from "./invalid_expression.ts";
import { MAX_NESTING } from "./limits.ts";
import type { AccessStep, Block, Expression, Statement, TypeName } from "./syntax.ts";
import { type Token, tokenize } from "./tokenizer.ts";

/** Parses an expression or a program (authentication.md 6.2). @throws {InvalidExpression} */
export function parse(source: string): Block {
  return new Parser(source).program();
}

/** Statements without a semicolon. */
const COMPOUND: ReadonlySet<Statement["kind"]> = new Set(["if", "for", "while"]);
const TYPE_NAMES: ReadonlyMap<string, TypeName> = new Map([["String", "String"], ["List", "List"], [
  "Map",
  "Map",
]]);

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #nesting = 0;

  constructor(readonly source: string) {
    this.#tokens = tokenize(source);
  }

  program(): Block {
    const statements = this.#statements(() => this.#peek().kind === "end");
    if (statements.length === 0) throw this.#error("expected an expression");
    return statements;
  }

  #statements(atEnd: () => boolean): Block {
    const statements: Statement[] = [];
    while (!atEnd()) {
      if (this.#take(";")) continue;
      const statement = this.#nested(() => this.#statement());
      statements.push(statement);
      if (!COMPOUND.has(statement.kind) && !atEnd()) this.#expect(";");
    }
    return statements;
  }

  #statement(): Statement {
    if (this.#take("return")) return { kind: "return", expression: this.#expression() };
    if (this.#take("if")) return this.#if();
    if (this.#take("for")) return this.#for();
    if (this.#take("while")) return { kind: "while", test: this.#parenthesized(), body: this.#body() };
    const name = this.#peek();
    const sign = this.#peek(1);
    if (name.kind === "name" && sign.kind === "fixed" && (sign.text === "=" || sign.text === "+=")) {
      return this.#assignment(name.text, name.at);
    }
    return { kind: "expression", expression: this.#expression() };
  }

  #assignment(name: string, at: number): Statement {
    if (name === "attr") throw this.#error("attr cannot be assigned");
    this.#next++;
    const adds = !this.#take("=");
    if (adds) this.#expect("+=");
    const value = this.#expression();
    const sum: Expression = { kind: "sum", at, terms: [{ kind: "variable", at, name }, value] };
    return { kind: "assignment", at, name, value: adds ? sum : value };
  }

  #if(): Statement {
    const branches = [{ test: this.#parenthesized(), body: this.#body() }];
    while (this.#take("else")) {
      if (!this.#take("if")) return { kind: "if", branches, otherwise: this.#body() };
      branches.push({ test: this.#parenthesized(), body: this.#body() });
    }
    return { kind: "if", branches, otherwise: [] };
  }

  #for(): Statement {
    this.#expect("(");
    const { text: name, at } = this.#name("the name of the loop variable");
    this.#expect(":");
    const list = this.#expression();
    this.#expect(")");
    return { kind: "for", at, name, list, body: this.#body() };
  }

  #body(): Block {
    if (this.#take("{")) {
      const statements = this.#statements(() => this.#at("}"));
      this.#expect("}");
      return statements;
    }
    if (this.#take(";")) return [];
    const statement = this.#nested(() => this.#statement());
    const mayEnd = COMPOUND.has(statement.kind) || this.#at("else") || this.#at("}") ||
      this.#peek().kind === "end";
    if (!mayEnd) this.#expect(";");
    return [statement];
  }

  // Expressions, from the weakest binding to the strongest

  #expression(): Expression {
    return this.#nested(() => {
      const test = this.#chain("any", "||", () => this.#chain("all", "&&", () => this.#comparison()));
      const at = this.#peek().at;
      if (!this.#take("?")) return test;
      const then = this.#expression();
      this.#expect(":");
      return { kind: "conditional", at, test, then, otherwise: this.#expression() };
    });
  }

  #chain(kind: "all" | "any", sign: string, operand: () => Expression): Expression {
    const at = this.#peek().at;
    const first = operand();
    const operands = [first];
    while (this.#take(sign)) operands.push(operand());
    return operands.length === 1 ? first : { kind, at, operands };
  }

  #comparison(): Expression {
    const left = this.#sum();
    const at = this.#peek().at;
    if (this.#atName("contains")) {
      this.#next++;
      const steps: AccessStep[] = [{ kind: "call", at, method: "contains", args: [this.#sum()] }];
      return { kind: "access", at, base: left, steps };
    }
    if (this.#take("instanceof")) return { kind: "typeTest", at, operand: left, type: this.#typeName() };
    const equal = this.#at("==");
    if (!this.#take("==") && !this.#take("!=")) return left;
    return { kind: "comparison", at, equal, left, right: this.#sum() };
  }

  #typeName(): TypeName {
    const { text, at } = this.#name("String, List or Map");
    const type = TYPE_NAMES.get(text);
    if (type === undefined) throw new InvalidExpression(this.source, at, "expected String, List or Map");
    return type;
  }

  #sum(): Expression {
    const at = this.#peek().at;
    const first = this.#unary();
    const terms = [first];
    while (this.#take("+")) terms.push(this.#unary());
    return terms.length === 1 ? first : { kind: "sum", at, terms };
  }

  #unary(): Expression {
    const at = this.#peek().at;
    let negations = 0;
    while (this.#take("!")) negations++;
    let operand = this.#access();
    if (negations > 0) operand = { kind: "not", at, operand };
    return negations > 0 && negations % 2 === 0 ? { kind: "not", at, operand } : operand;
  }

  #access(): Expression {
    const at = this.#peek().at;
    const base = this.#primary();
    const steps: AccessStep[] = [];
    for (;;) {
      const place = this.#peek().at;
      if (this.#take("[")) {
        const index = this.#expression();
        this.#expect("]");
        steps.push({ kind: "index", at: place, index });
      } else if (this.#take(".")) {
        const { text: name, at: named } = this.#name("the name of a method or member");
        if (this.#take("(")) steps.push({ kind: "call", at: named, method: name, args: this.#list(")") });
        else steps.push({ kind: "member", at: named, name });
      } else {
        return steps.length === 0 ? base : { kind: "access", at, base, steps };
      }
    }
  }

  #primary(): Expression {
    const token = this.#peek();
    const { at } = token;
    this.#next++;
    switch (token.kind) {
      case "string":
        return { kind: "string", at, text: token.text };
      case "integer":
        return { kind: "integer", at, value: token.value };
      case "name":
        return { kind: "variable", at, name: token.text };
      case "fixed":
        switch (token.text) {
          case "null":
            return { kind: "constant", at, value: null };
          case "true":
            return { kind: "constant", at, value: true };
          case "false":
            return { kind: "constant", at, value: false };
          case "[":
            return { kind: "list", at, items: this.#list("]") };
          case "{":
            return { kind: "list", at, items: this.#list("}") };
          case "(": {
            const inner = this.#expression();
            this.#expect(")");
            return inner;
          }
        }
    }
    this.#next--;
    throw this.#error("expected a value");
  }

  #parenthesized(): Expression {
    this.#expect("(");
    const inner = this.#expression();
    this.#expect(")");
    return inner;
  }

  #list(closing: string): Expression[] {
    const items: Expression[] = [];
    if (this.#take(closing)) return items;
    do items.push(this.#expression()); while (this.#take(","));
    this.#expect(closing);
    return items;
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#next + ahead] ?? { kind: "end", at: this.source.length };
  }

  #at(text: string): boolean {
    const token = this.#peek();
    return token.kind === "fixed" && token.text === text;
  }

  /** Reports whether a word follows that is an operator only between values. */
  #atName(text: string): boolean {
    const token = this.#peek();
    return token.kind === "name" && token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#at(text)) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#error(`expected ${text}`);
  }

  #name(what: string): Token & { kind: "name" } {
    const token = this.#peek();
    if (token.kind !== "name") throw this.#error(`expected ${what}`);
    this.#next++;
    return token;
  }

  #nested<T>(read: () => T): T {
    if (this.#nesting >= MAX_NESTING) throw this.#error(`nested deeper than ${MAX_NESTING} levels`);
    this.#nesting++;
    const result = read();
    this.#nesting--;
    return result;
  }

  #error(reason: string): InvalidExpression {
    const token = this.#peek();
    const found = token.kind === "end" ? "the end" : this.source.slice(token.at, this.#peek(1).at).trim();
    return new InvalidExpression(this.source, token.at, `${reason}, found ${found.slice(0, 40)}`);
  }
}
