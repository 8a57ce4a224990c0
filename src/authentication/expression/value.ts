import { Text } from "./text.ts";

/** User attributes from a provider. */
export type Variables = ReadonlyMap<string, Variable>;
export type Variable = string | readonly Variable[] | Variables;

/** Value of an expression. */
export type Value = null | boolean | number | Text | List | ReadonlyMap<string, Value> | Iteration;

/** List; one with a single external value may stand for it in text. */
export class List {
  constructor(readonly items: Value[], readonly foreign: boolean) {}
}

/** Iterator over a copy of a list. */
export class Iteration {
  readonly #items: readonly Value[];
  #next = 0;

  constructor(list: List) {
    this.#items = [...list.items];
  }

  hasNext(): boolean {
    return this.#next < this.#items.length;
  }

  next(): Value | undefined {
    return this.#items[this.#next++];
  }
}

/** Copies a variable, so that programs cannot change it. */
export function toValue(variable: Variable): Value {
  if (typeof variable === "string") return Text.foreign(variable);
  if (isVariables(variable)) return new Map([...variable].map(([name, member]) => [name, toValue(member)]));
  return new List(variable.map(toValue), true);
}

function isVariables(variable: Exclude<Variable, string>): variable is Variables {
  return variable instanceof Map;
}

/** Converts scalars to text; `undefined` for other values. */
export function scalarText(value: Value): Text | undefined {
  if (value instanceof Text) return value;
  return typeof value === "number" || typeof value === "boolean" ? Text.own(String(value)) : undefined;
}

/** Names a value's type for messages. */
export function describeKind(value: Value): string {
  if (value === null) return "null";
  if (value instanceof Text) return "a text";
  if (value instanceof List) return "a list";
  if (value instanceof Iteration) return "an iterator";
  return typeof value === "object" ? "a map" : typeof value === "number" ? "a number" : "a truth value";
}
