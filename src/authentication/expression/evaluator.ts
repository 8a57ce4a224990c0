import { InvalidExpression } from "./invalid_expression.ts";
import { MAX_STEPS, MAX_TEXT } from "./limits.ts";
import { callMethod, itemAt, MethodError, sameScalar } from "./methods.ts";
import type { AccessStep, Block, Expression, Statement, TypeName } from "./syntax.ts";
import { Text } from "./text.ts";
import { describeKind, List, scalarText, toValue, type Value, type Variables } from "./value.ts";

/**
 * Runs a program (authentication.md 6.3), which accesses only the variables. @throws {InvalidExpression}
 * @param asName Whether the result becomes a distinguished name, see {@link Text.asName}.
 */
export function evaluate(source: string, program: Block, variables: Variables, asName: boolean): Value {
  return new Evaluator(source, variables, asName).run(program);
}

/** Completion of a statement: the last value, or `return`. */
interface Outcome {
  readonly value: Value;
  readonly returned: boolean;
}

const NOTHING: Outcome = { value: null, returned: false };

class Evaluator {
  readonly #known = new Map<string, Value>();
  #steps = 0;

  constructor(readonly source: string, readonly variables: Variables, readonly asName: boolean) {}

  run(program: Block): Value {
    return this.#block(program).value;
  }

  #block(statements: Block): Outcome {
    let last = NOTHING;
    for (const statement of statements) {
      last = this.#statement(statement);
      if (last.returned) return last;
    }
    return last;
  }

  #statement(statement: Statement): Outcome {
    switch (statement.kind) {
      case "expression":
        return { value: this.#value(statement.expression), returned: false };
      case "return":
        return { value: this.#value(statement.expression), returned: true };
      case "assignment": {
        const value = this.#value(statement.value);
        this.#known.set(statement.name, value);
        return { value, returned: false };
      }
      case "if": {
        const taken = statement.branches.find(({ test }) => this.#truth(test));
        return this.#block(taken?.body ?? statement.otherwise);
      }
      case "for":
        return this.#for(statement);
      case "while":
        while (this.#truth(statement.test)) {
          const outcome = this.#block(statement.body);
          if (outcome.returned) return outcome;
        }
        return NOTHING;
    }
  }

  #for({ at, name, list, body }: Statement & { kind: "for" }): Outcome {
    const items = this.#value(list);
    if (!(items instanceof List)) throw this.#error(at, `expected a list, found ${describeKind(items)}`);
    for (const item of [...items.items]) {
      this.#step(at);
      this.#known.set(name, item);
      const outcome = this.#block(body);
      if (outcome.returned) return outcome;
    }
    return NOTHING;
  }

  #value(expression: Expression): Value {
    this.#step(expression.at);
    switch (expression.kind) {
      case "string":
        return Text.own(expression.text);
      case "integer":
      case "constant":
        return expression.value;
      case "variable": {
        const value = this.#variable(expression.name);
        if (value === undefined) throw this.#error(expression.at, `no value is named ${expression.name}`);
        return value;
      }
      case "list":
        return new List(expression.items.map((item) => this.#value(item)), false);
      case "sum":
        return this.#sum(expression.at, expression.terms);
      case "all":
        return expression.operands.every((operand) => this.#truth(operand));
      case "any":
        return expression.operands.some((operand) => this.#truth(operand));
      case "not":
        return !this.#truth(expression.operand);
      case "comparison":
        return this.#same(expression) === expression.equal;
      case "typeTest":
        return isOfType(this.#value(expression.operand), expression.type);
      case "conditional":
        return this.#value(this.#truth(expression.test) ? expression.then : expression.otherwise);
      case "access":
        return expression.steps.reduce(
          (value, step) => this.#access(value, step),
          this.#value(expression.base),
        );
    }
  }

  #variable(name: string): Value | undefined {
    let value = this.#known.get(name);
    if (value === undefined) {
      const variable = name === "attr" ? this.variables : this.variables.get(name);
      if (variable === undefined) return undefined;
      value = toValue(variable);
      this.#known.set(name, value);
    }
    return value;
  }

  /** True also for the text `true`, as providers send it. */
  #truth(expression: Expression): boolean {
    const value = this.#value(expression);
    if (typeof value === "boolean") return value;
    const text = value instanceof Text ? value.raw : undefined;
    if (text === "true" || text === "false") return text === "true";
    throw this.#error(expression.at, `expected true or false, found ${describeKind(value)}`);
  }

  #same({ at, left, right }: Expression & { kind: "comparison" }): boolean {
    // The only way to test whether a variable exists.
    const presence = (side: Expression) =>
      side.kind === "variable" ? this.#variable(side.name) ?? null : this.#value(side);
    const isNull = (side: Expression) => side.kind === "constant" && side.value === null;
    const a = isNull(right) ? presence(left) : this.#value(left);
    const b = isNull(left) ? presence(right) : this.#value(right);
    for (const value of [a, b]) {
      const canonical = value === null || scalarText(value) !== undefined || a === null || b === null;
      if (!canonical) throw this.#error(at, `expected a text to compare, found ${describeKind(value)}`);
    }
    return sameScalar(a, b);
  }

  /** Left to right: numbers add, lists append, everything else concatenates. */
  #sum(at: number, terms: readonly Expression[]): Value {
    const [first, ...others] = terms.map((term) => ({ value: this.#value(term), at: term.at }));
    if (first === undefined) throw this.#error(at, "expected a term");
    return others.reduce((sum, term) => this.#plus(sum, first.at, term.value, term.at), first.value);
  }

  #plus(left: Value, leftAt: number, right: Value, rightAt: number): Value {
    if (typeof left === "number" && typeof right === "number") return left + right;
    if (left instanceof List && (right instanceof List || !left.foreign)) {
      const more = right instanceof List ? right.items : [right];
      this.#step(rightAt, left.items.length + more.length);
      return new List([...left.items, ...more], false);
    }
    return this.#made(rightAt, Text.join([this.#term(left, leftAt), this.#term(right, rightAt)]));
  }

  #term(value: Value, at: number): Text {
    const only = value instanceof List && value.items.length === 1 ? value.items[0] ?? null : value;
    const text = scalarText(only);
    if (text !== undefined) return text;
    const found = value instanceof List ? `a list of ${value.items.length}` : describeKind(value);
    throw this.#error(at, `expected a text to join, found ${found}`);
  }

  #access(value: Value, step: AccessStep): Value {
    this.#step(step.at);
    try {
      switch (step.kind) {
        case "index":
          return this.#indexed(value, this.#value(step.index));
        case "member":
          if (value instanceof Map) return value.get(step.name) ?? null;
          throw new MethodError(`${describeKind(value)} has no members`);
        case "call": {
          const args = step.args.map((arg) => this.#value(arg));
          if (value instanceof List) this.#step(step.at, value.items.length >> 4);
          const result = callMethod(value, step.method, args, this.asName);
          if (result instanceof List) this.#step(step.at, result.items.length);
          return result instanceof Text ? this.#made(step.at, result) : result;
        }
      }
    } catch (error) {
      throw error instanceof MethodError ? this.#error(step.at, error.message) : error;
    }
  }

  #indexed(value: Value, index: Value): Value {
    if (value instanceof List && typeof index === "number") return itemAt(value.items, index);
    if (value instanceof Map && index instanceof Text) return value.get(index.raw) ?? null;
    throw new MethodError(`${describeKind(value)} has nothing at ${describeKind(index)}`);
  }

  #step(at: number, count = 1): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw this.#error(at, `takes more than ${MAX_STEPS} steps`);
  }

  /** Charges steps for the text's length, which bounds all text. */
  #made(at: number, text: Text): Text {
    if (text.length > MAX_TEXT) throw this.#error(at, `makes a text longer than ${MAX_TEXT} characters`);
    this.#step(at, text.length >> 6);
    return text;
  }

  #error(at: number, reason: string): InvalidExpression {
    return new InvalidExpression(this.source, at, reason);
  }
}

function isOfType(value: Value, type: TypeName): boolean {
  switch (type) {
    case "String":
      return value instanceof Text;
    case "List":
      return value instanceof List;
    case "Map":
      return value instanceof Map;
  }
}
