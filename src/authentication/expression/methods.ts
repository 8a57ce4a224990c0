import { MAX_STEPS, MAX_TEXT } from "./tokenizer.ts";
import { confusable } from "../../model/confusables.ts";
import { describeKind, Iteration, List, scalarText, Text, type Value } from "./value.ts";

/**
 * Calls an allowed method (credentials.md 6.2). Offsets count UTF-16 units; `replace` is literal.
 * @param asName Whether texts of mixed origin are escaped before a method loses their origin.
 * @throws {MethodError}
 */
export function callMethod(target: Value, name: string, args: readonly Value[], asName: boolean): Value {
  const call = new Call(name, args, asName);
  if (target instanceof Text) return call.on(target, ON_TEXT);
  if (target instanceof List) return call.on(target, ON_LIST);
  if (target instanceof Iteration) return call.on(target, ON_ITERATION);
  if (target instanceof Map) return call.on(target, ON_MAP);
  throw new MethodError(`${describeKind(target)} has no methods`);
}

/** Failed call; the evaluator adds the place. */
export class MethodError extends Error {}

/** Method call; arguments are checked on access. */
class Call {
  constructor(readonly method: string, readonly args: readonly Value[], readonly asName: boolean) {}

  on<T extends Value>(target: T, methods: Methods<T>): Value {
    const run = methods[`${this.method}/${this.args.length}`];
    if (run !== undefined) return run(target, this);
    const count = this.args.length;
    throw new MethodError(`${describeKind(target)} has no method ${this.method}() with ${count} arguments`);
  }

  value(at: number): Value {
    return this.args[at] ?? null;
  }

  text(at: number): Text {
    const value = this.value(at);
    const text = scalarText(value);
    if (text !== undefined) return text;
    throw new MethodError(`${this.method}() expects a text, found ${describeKind(value)}`);
  }

  integer(at: number): number {
    const value = this.value(at);
    if (typeof value === "number") return value;
    throw new MethodError(`${this.method}() expects a number, found ${describeKind(value)}`);
  }
}

/** Methods by name and number of arguments. */
type Methods<T> = Readonly<Record<string, (target: T, call: Call) => Value>>;

const ON_TEXT: Methods<Text> = {
  "endsWith/1": ({ raw }, call) => raw.endsWith(call.text(0).raw),
  "startsWith/1": ({ raw }, call) => raw.startsWith(call.text(0).raw),
  "contains/1": ({ raw }, call) => raw.includes(call.text(0).raw),
  "equals/1": (target, call) => sameScalar(target, call.value(0)),
  "equalsIgnoreCase/1": ({ raw }, call) => raw.toLowerCase() === call.text(0).raw.toLowerCase(),
  "length/0": ({ raw }) => raw.length,
  "isEmpty/0": ({ raw }) => raw === "",
  "trim/0": changed((text) => text.trim()),
  "toLowerCase/0": changed((text) => text.toLowerCase()),
  "toUpperCase/0": changed((text) => text.toUpperCase()),
  "substring/1": (target, call) => {
    const base = baseOf(target, call);
    return substring(base, call.integer(0), base.raw.length);
  },
  "substring/2": (target, call) => substring(baseOf(target, call), call.integer(0), call.integer(1)),
  "split/1": (target, call) => split(baseOf(target, call), call.text(0).raw),
  "replace/2": (target, call) => replace(baseOf(target, call), call.text(0).raw, call.text(1)),
};

const ON_LIST: Methods<List> = {
  "size/0": ({ items }) => items.length,
  "isEmpty/0": ({ items }) => items.length === 0,
  "contains/1": ({ items }, call) => items.some((item) => sameScalar(item, call.value(0))),
  "get/1": ({ items }, call) => itemAt(items, call.integer(0)),
  "add/1": ({ items }, call) => items.push(call.value(0)) > 0,
  "iterator/0": ({ items }) => new Iteration(new List(items, false)),
};

const ON_ITERATION: Methods<Iteration> = {
  "hasNext/0": (target) => target.hasNext(),
  "next/0": (target) => {
    const value = target.next();
    if (value === undefined) throw new MethodError("next() at the end of the list");
    return value;
  },
};

const ON_MAP: Methods<ReadonlyMap<string, Value>> = {
  "get/1": (target, call) => target.get(call.text(0).raw) ?? null,
  "containsKey/1": (target, call) => target.has(call.text(0).raw),
  "size/0": ({ size }) => size,
};

/** Returns why a call fails on any value. @param literal First argument, if it is a text in the expression. */
export function refusalOf(name: string, count: number, literal: string | undefined): string | undefined {
  const key = `${name}/${count}`;
  if (![ON_TEXT, ON_LIST, ON_ITERATION, ON_MAP].some((methods) => Object.hasOwn(methods, key))) {
    return `no method ${name}() with ${count} arguments`;
  }
  const splits = name === "split" && literal !== undefined;
  return splits && separatorOf(literal) === undefined ? EXPECTED_SEPARATOR : undefined;
}

/** Returns the text whose origin a method may lose: texts of mixed origin are escaped first. */
function baseOf(target: Text, { asName }: Call): Text {
  return target.isMixed && asName ? Text.own(target.asName) : target;
}

/** Returns a method that refuses {@link confusable} external text, since trimming or case changes could merge names. */
function changed(change: (text: string) => string): Methods<Text>[string] {
  return (target, call) => {
    const base = baseOf(target, call);
    for (const text of target.external) {
      const reason = text === "" ? undefined : confusable(text);
      if (reason !== undefined) {
        throw new MethodError(`${call.method}() does not take from outside ${reason}`);
      }
    }
    return base.derive(change(base.raw));
  };
}

/** @throws {MethodError} If out of range. */
export function itemAt(items: readonly Value[], index: number): Value {
  const item = items[index];
  if (item === undefined) throw new MethodError(`no item ${index} in a list of ${items.length}`);
  return item;
}

/** Reports whether two scalars read the same; other values never do, except two nulls. */
export function sameScalar(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b;
  const [left, right] = [scalarText(a), scalarText(b)];
  return left !== undefined && right !== undefined && left.raw === right.raw;
}

function substring(text: Text, from: number, to: number): Text {
  if (from > to || to > text.length) {
    throw new MethodError(`no part from ${from} to ${to} in a text of ${text.length} characters`);
  }
  return text.derive(text.raw.slice(from, to));
}

/** Message for ambiguous patterns. */
const EXPECTED_SEPARATOR =
  'split() expects a separator: a text, or one escaped sign such as "\\\\.", no other regular expression';

/** Returns the text that a pattern of Java matches; `undefined` if that depends on the text, or if it is empty. */
function separatorOf(pattern: string): string | undefined {
  return /^(?:\\([^A-Za-z0-9])|[^\\[({.*+?^$|]+)$/.exec(pattern)?.reduce((all, escaped) => escaped ?? all);
}

/** Omits trailing empty parts, as in Java. */
function split(text: Text, pattern: string): List {
  const separator = separatorOf(pattern);
  if (separator === undefined) throw new MethodError(EXPECTED_SEPARATOR);
  const parts = text.raw.split(separator, MAX_STEPS + 1);
  if (parts.length > MAX_STEPS) throw new MethodError(`split() makes more than ${MAX_STEPS} parts`);
  if (parts.length > 1) { while (parts.at(-1) === "") parts.pop(); }
  return new List(parts.map((part) => text.derive(part)), false);
}

function replace(text: Text, old: string, replacement: Text): Text {
  if (old === "") throw new MethodError("replace() expects a text to look for");
  const places = text.raw.split(old);
  const length = text.length + (places.length - 1) * (replacement.length - old.length);
  if (length > MAX_TEXT) throw new MethodError(`replace() makes a text longer than ${MAX_TEXT} characters`);
  const parts = places.map((part) => text.derive(part));
  return Text.join(parts.flatMap((part, at) => at === 0 ? [part] : [replacement, part]));
}
