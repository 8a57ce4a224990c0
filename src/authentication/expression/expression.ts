import { attempt } from "../../model/attempt.ts";
import { callMethod, itemAt, MethodError, refusalOf, sameScalar } from "./methods.ts";
import { InvalidExpression, MAX_NESTING, MAX_STEPS, MAX_TEXT, type Token, tokenize } from "./tokenizer.ts";
import { describeKind, List, scalarText, Text, toValue, type Value, type Variables } from "./value.ts";

/** Compiled assignment expression. */
export interface Expression {
  /** Returns one text, the first item of a list; `undefined` if null, empty or blank. @throws {InvalidExpression} */
  text(variables: Variables): string | undefined;
  /** Like {@link text}, with external values escaped for a distinguished name. */
  name(variables: Variables): string | undefined;
  /** Returns a list, also for a single value; empty for null. @throws {InvalidExpression} */
  list(variables: Variables): readonly Text[];
}

/** Compiles an expression or a program (credentials.md 6.2). @throws {InvalidExpression} */
export function compileExpression(source: string): Expression {
  const program = new Compiler(source).program();
  const run = (variables: Variables, asName: boolean) => new Run(source, variables, asName).block(program);
  const single = (value: Value): Text | undefined => {
    const first = value instanceof List ? value.items[0] ?? null : value;
    return first === null ? undefined : asText(source, first);
  };
  return {
    text: (variables) => notBlank(single(run(variables, false))?.raw),
    name: (variables) => notBlank(single(run(variables, true))?.asName),
    list(variables) {
      const value = run(variables, false);
      if (value === null) return [];
      return (value instanceof List ? value.items : [value]).map((item) => asText(source, item));
    },
  };
}

function asText(source: string, value: Value): Text {
  const text = scalarText(value);
  if (text !== undefined) return text;
  throw new InvalidExpression(source, 0, `expected a text as result, found ${describeKind(value)}`);
}

function notBlank(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}

interface Term {
  readonly at: number; // source offset, for messages
  compute(run: Run): Value;
  readonly variable?: string; // name, if it is only a variable
  readonly isNull?: boolean; // whether it is only `null`
}

/** Compiled access to a value: `[index]`, `.member`, `.method(…)`. */
interface Access {
  readonly at: number;
  apply(value: Value, run: Run): Value;
}

interface Statement {
  readonly endsItself: boolean; // needs no semicolon
  execute(run: Run): Value; // the last value
}

type Block = readonly Statement[];

/** Evaluation of a program, which accesses only the variables (credentials.md 6.3). Its methods throw {@link InvalidExpression}. */
class Run {
  readonly known = new Map<string, Value>();
  returned = false; // by the statement `return`
  #steps = 0;

  /** @param asName Whether the result becomes a distinguished name, see {@link Text.asName}. */
  constructor(readonly source: string, readonly variables: Variables, readonly asName: boolean) {}

  block(statements: Block): Value {
    let last: Value = null;
    for (const statement of statements) {
      last = statement.execute(this);
      if (this.returned) break;
    }
    return last;
  }

  value(term: Term): Value {
    this.step(term.at);
    return term.compute(this);
  }

  variable(name: string): Value | undefined {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const variable = name === "attr" ? this.variables : this.variables.get(name);
    if (variable === undefined) return undefined;
    const value = toValue(variable);
    this.known.set(name, value);
    return value;
  }

  /** Reports whether a term is true; the text `true`, as providers send it, is too. */
  truth(term: Term): boolean {
    const value = this.value(term);
    if (typeof value === "boolean") return value;
    const text = value instanceof Text ? value.raw : undefined;
    if (text === "true" || text === "false") return text === "true";
    throw this.error(term.at, `expected true or false, found ${describeKind(value)}`);
  }

  same(at: number, left: Term, right: Term): boolean {
    // The only way to test whether a variable exists.
    const presence = (side: Term) =>
      side.variable === undefined ? this.value(side) : this.variable(side.variable) ?? null;
    const a = right.isNull ? presence(left) : this.value(left);
    const b = left.isNull ? presence(right) : this.value(right);
    for (const value of [a, b]) {
      const canonical = value === null || scalarText(value) !== undefined || a === null || b === null;
      if (!canonical) throw this.error(at, `expected a text to compare, found ${describeKind(value)}`);
    }
    return sameScalar(a, b);
  }

  /** Adds from left to right: numbers add, lists append, everything else concatenates. */
  sum([first, ...others]: readonly [Term, ...Term[]]): Value {
    const start = this.value(first);
    const more = others.map((term) => ({ value: this.value(term), at: term.at }));
    return more.reduce((sum, { value, at }) => this.#plus(sum, first.at, value, at), start);
  }

  #plus(left: Value, leftAt: number, right: Value, rightAt: number): Value {
    if (typeof left === "number" && typeof right === "number") return left + right;
    if (left instanceof List && (right instanceof List || !left.external)) {
      const more = right instanceof List ? right.items : [right];
      this.step(rightAt, left.items.length + more.length);
      return new List([...left.items, ...more], false);
    }
    return this.#made(rightAt, Text.join([this.#joined(left, leftAt), this.#joined(right, rightAt)]));
  }

  #joined(value: Value, at: number): Text {
    const only = value instanceof List && value.items.length === 1 ? value.items[0] ?? null : value;
    const text = scalarText(only);
    if (text !== undefined) return text;
    const found = value instanceof List ? `a list of ${value.items.length}` : describeKind(value);
    throw this.error(at, `expected a text to join, found ${found}`);
  }

  access(value: Value, { at, apply }: Access): Value {
    this.step(at);
    return attempt(() => apply(value, this), MethodError, ({ message }) => {
      throw this.error(at, message);
    });
  }

  call(at: number, value: Value, method: string, args: readonly Term[]): Value {
    const given = args.map((arg) => this.value(arg));
    if (value instanceof List) this.step(at, value.items.length >> 4);
    const result = callMethod(value, method, given, this.asName);
    if (result instanceof List) this.step(at, result.items.length);
    return result instanceof Text ? this.#made(at, result) : result;
  }

  step(at: number, count = 1): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw this.error(at, `takes more than ${MAX_STEPS} steps`);
  }

  /** Charges steps for the text's length, which bounds all text. */
  #made(at: number, text: Text): Text {
    if (text.length > MAX_TEXT) throw this.error(at, `makes a text longer than ${MAX_TEXT} characters`);
    this.step(at, text.length >> 6);
    return text;
  }

  error(at: number, reason: string): InvalidExpression {
    return new InvalidExpression(this.source, at, reason);
  }
}

const CONSTANTS = new Map<string, boolean | null>(Object.entries({ null: null, true: true, false: false }));

/** Types for `instanceof`. */
const TYPES: ReadonlyMap<string, (value: Value) => boolean> = new Map<string, (value: Value) => boolean>([
  ["String", (value) => value instanceof Text],
  ["List", (value) => value instanceof List],
  ["Map", (value) => value instanceof Map],
]);

class Compiler {
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
      if (!statement.endsItself && !atEnd()) this.#expect(";");
    }
    return statements;
  }

  #statement(): Statement {
    if (this.#take("if")) return { endsItself: true, execute: this.#if() };
    if (this.#take("for")) return { endsItself: true, execute: this.#for() };
    if (this.#take("while")) return { endsItself: true, execute: this.#while() };
    const returned = this.#take("return");
    const name = this.#peek();
    const sign = this.#peek(1);
    if (!returned && name.kind === "name" && sign.kind === "fixed" && /^\+?=$/.test(sign.text)) {
      return { endsItself: false, execute: this.#assignment(name.text, name.at) };
    }
    const term = this.#expression();
    const execute = (run: Run) => {
      const value = run.value(term);
      run.returned ||= returned;
      return value;
    };
    return { endsItself: false, execute };
  }

  #assignment(name: string, at: number): Statement["execute"] {
    if (name === "attr") throw this.#error("attr cannot be assigned");
    this.#next++;
    const adds = !this.#take("=");
    if (adds) this.#expect("+=");
    const given = this.#expression();
    const term = adds ? sumOf(at, [variableTerm(at, name), given]) : given;
    return (run) => {
      const value = run.value(term);
      run.known.set(name, value);
      return value;
    };
  }

  #if(): Statement["execute"] {
    const branches = [{ test: this.#parenthesized(), body: this.#body() }];
    let otherwise: Block | undefined;
    while (otherwise === undefined && this.#take("else")) {
      if (!this.#take("if")) otherwise = this.#body();
      else branches.push({ test: this.#parenthesized(), body: this.#body() });
    }
    return (run) => run.block(branches.find(({ test }) => run.truth(test))?.body ?? otherwise ?? []);
  }

  #for(): Statement["execute"] {
    this.#expect("(");
    const { text: name, at } = this.#name("the name of the loop variable");
    this.#expect(":");
    const list = this.#expression();
    this.#expect(")");
    const body = this.#body();
    return (run) => {
      const items = run.value(list);
      if (!(items instanceof List)) throw run.error(at, `expected a list, found ${describeKind(items)}`);
      for (const item of [...items.items]) {
        run.step(at);
        run.known.set(name, item);
        const value = run.block(body);
        if (run.returned) return value;
      }
      return null;
    };
  }

  #while(): Statement["execute"] {
    const [test, body] = [this.#parenthesized(), this.#body()];
    return (run) => {
      while (run.truth(test)) {
        const value = run.block(body);
        if (run.returned) return value;
      }
      return null;
    };
  }

  #body(): Block {
    if (this.#take("{")) {
      const statements = this.#statements(() => this.#at("}"));
      this.#expect("}");
      return statements;
    }
    if (this.#take(";")) return [];
    const statement = this.#nested(() => this.#statement());
    const mayEnd = statement.endsItself || this.#at("else") || this.#at("}") || this.#peek().kind === "end";
    if (!mayEnd) this.#expect(";");
    return [statement];
  }

  // Expressions, from the weakest binding to the strongest

  #expression(): Term {
    return this.#nested(() => {
      const test = this.#chain("||", () => this.#chain("&&", () => this.#comparison()));
      const at = this.#peek().at;
      if (!this.#take("?")) return test;
      const then = this.#expression();
      this.#expect(":");
      const otherwise = this.#expression();
      return { at, compute: (run) => run.value(run.truth(test) ? then : otherwise) };
    });
  }

  #chain(sign: "&&" | "||", operand: () => Term): Term {
    const at = this.#peek().at;
    const first = operand();
    const operands = [first];
    while (this.#take(sign)) operands.push(operand());
    if (operands.length === 1) return first;
    return {
      at,
      compute: (run) => {
        const isTrue = (term: Term) => run.truth(term);
        return sign === "&&" ? operands.every(isTrue) : operands.some(isTrue);
      },
    };
  }

  #comparison(): Term {
    const left = this.#sum();
    const token = this.#peek();
    const { at } = token;
    if (token.kind === "name" && token.text === "contains") { // an operator only between values
      this.#next++;
      const item = this.#sum();
      return accessTo(at, left, [{ at, apply: (value, run) => run.call(at, value, "contains", [item]) }]);
    }
    if (this.#take("instanceof")) {
      const { text, at: named } = this.#name("String, List or Map");
      const isOfType = TYPES.get(text);
      if (isOfType !== undefined) return { at, compute: (run) => isOfType(run.value(left)) };
      throw new InvalidExpression(this.source, named, "expected String, List or Map");
    }
    const equal = this.#at("==");
    if (!this.#take("==") && !this.#take("!=")) return left;
    const right = this.#sum();
    return { at, compute: (run) => run.same(at, left, right) === equal };
  }

  #sum(): Term {
    const at = this.#peek().at;
    const first = this.#unary();
    const terms: [Term, ...Term[]] = [first];
    while (this.#take("+")) terms.push(this.#unary());
    return terms.length === 1 ? first : sumOf(at, terms);
  }

  #unary(): Term {
    const at = this.#peek().at;
    let negations = 0;
    while (this.#take("!")) negations++;
    const operand = this.#access();
    if (negations === 0) return operand;
    const odd: Term = { at, compute: (run) => !run.truth(operand) };
    return negations % 2 === 0 ? { at, compute: (run) => !run.truth(odd) } : odd;
  }

  #access(): Term {
    const at = this.#peek().at;
    const base = this.#primary();
    const steps: Access[] = [];
    for (;;) {
      const place = this.#peek().at;
      if (this.#take("[")) {
        const index = this.#expression();
        this.#expect("]");
        steps.push({ at: place, apply: (value, run) => indexed(value, run.value(index)) });
      } else if (this.#take(".")) {
        const { text: name, at } = this.#name("the name of a method or member");
        const first = this.#peek(1);
        const args = this.#take("(") ? this.#list(")") : undefined;
        const refusal = args &&
          refusalOf(name, args.length, first.kind === "string" ? first.text : undefined);
        if (refusal !== undefined) throw new InvalidExpression(this.source, at, refusal);
        if (args === undefined) steps.push({ at, apply: (value) => memberOf(value, name) });
        else steps.push({ at, apply: (value, run) => run.call(at, value, name, args) });
      } else {
        return steps.length === 0 ? base : accessTo(at, base, steps);
      }
    }
  }

  #primary(): Term {
    const token = this.#peek();
    const { at } = token;
    this.#next++;
    if (token.kind === "name") return variableTerm(at, token.text);
    if (token.kind === "string") {
      const text = Text.own(token.text);
      return { at, compute: () => text };
    }
    if (token.kind === "integer") return { at, compute: () => token.value };
    const sign = token.kind === "fixed" ? token.text : "";
    const constant = CONSTANTS.get(sign);
    if (constant !== undefined) return { at, compute: () => constant, isNull: constant === null };
    if (sign === "[" || sign === "{") {
      const items = this.#list(sign === "[" ? "]" : "}");
      return { at, compute: (run) => new List(items.map((item) => run.value(item)), false) };
    }
    this.#next--;
    if (sign === "(") return this.#parenthesized();
    throw this.#error("expected a value");
  }

  #parenthesized(): Term {
    this.#expect("(");
    const inner = this.#expression();
    this.#expect(")");
    return inner;
  }

  #list(closing: string): Term[] {
    const items: Term[] = [];
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

function variableTerm(at: number, name: string): Term {
  return {
    at,
    variable: name,
    compute(run) {
      const value = run.variable(name);
      if (value === undefined) throw run.error(at, `no value is named ${name}`);
      return value;
    },
  };
}

function sumOf(at: number, terms: readonly [Term, ...Term[]]): Term {
  return { at, compute: (run) => run.sum(terms) };
}

function accessTo(at: number, base: Term, steps: readonly Access[]): Term {
  return { at, compute: (run) => steps.reduce((value, step) => run.access(value, step), run.value(base)) };
}

function memberOf(value: Value, name: string): Value {
  if (value instanceof Map) return value.get(name) ?? null;
  throw new MethodError(`${describeKind(value)} has no members`);
}

function indexed(value: Value, index: Value): Value {
  if (value instanceof List && typeof index === "number") return itemAt(value.items, index);
  if (value instanceof Map && index instanceof Text) return value.get(index.raw) ?? null;
  throw new MethodError(`${describeKind(value)} has nothing at ${describeKind(index)}`);
}
