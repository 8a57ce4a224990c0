import { Text } from "./text.ts";

/** What an identity provider says about a user, by attribute name. */
export type Variables = ReadonlyMap<string, Variable>;
export type Variable = string | readonly Variable[] | Variables;

/** What an expression works with. */
export type Value = null | boolean | number | Text | List | ReadonlyMap<string, Value> | Iteration;

/** A list. One from outside often holds a single value, and then stands for it when joined with text. */
export class List {
  constructor(readonly items: Value[], readonly foreign: boolean) {}
}

/** An iterator over what a list held when it was made. */
export class Iteration {
  readonly #items: readonly Value[];
  #next = 0;

  constructor(list: List) {
    this.#items = [...list.items];
  }

  hasNext(): boolean {
    return this.#next < this.#items.length;
  }

  /** The next item; `undefined` at the end. */
  next(): Value | undefined {
    return this.#items[this.#next++];
  }
}

/** A variable as a value of its own, so that a program that changes it changes nothing outside. */
export function toValue(variable: Variable): Value {
  if (typeof variable === "string") return Text.foreign(variable);
  if (isVariables(variable)) return new Map([...variable].map(([name, member]) => [name, toValue(member)]));
  return new List(variable.map(toValue), true);
}

function isVariables(variable: Exclude<Variable, string>): variable is Variables {
  return variable instanceof Map;
}

/** Text, numbers and booleans as text; `undefined` for everything else. */
export function scalarText(value: Value): Text | undefined {
  if (value instanceof Text) return value;
  return typeof value === "number" || typeof value === "boolean" ? Text.own(String(value)) : undefined;
}

/** What to call a value in a message. */
export function describeKind(value: Value): string {
  if (value === null) return "null";
  if (value instanceof Text) return "a text";
  if (value instanceof List) return "a list";
  if (value instanceof Iteration) return "an iterator";
  return typeof value === "object" ? "a map" : typeof value === "number" ? "a number" : "a truth value";
}
