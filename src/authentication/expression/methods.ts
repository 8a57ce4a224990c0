import { MAX_STEPS, MAX_TEXT } from "./limits.ts";
import { confusable } from "../../model/confusables.ts";
import { Text } from "./text.ts";
import { describeKind, Iteration, List, scalarText, type Value } from "./value.ts";

/**
 * Calls an allowed method (authentication.md 6.2). Offsets count UTF-16 units; `split`, `replace`: literal.
 * @param asName Whether texts of mixed origin are escaped before a method loses their origin.
 * @throws {MethodError}
 */
export function callMethod(target: Value, name: string, args: readonly Value[], asName: boolean): Value {
  const call = new Call(name, args);
  if (target instanceof Text) return callOnText(target, call, asName);
  if (target instanceof List) return callOnList(target, call);
  if (target instanceof Iteration) return callOnIteration(target, call);
  if (target instanceof Map) return callOnMap(target, call);
  throw new MethodError(`${describeKind(target)} has no methods`);
}

/** Failed call; the evaluator adds the place. */
export class MethodError extends Error {}

/** Method call; arguments are checked on access. */
class Call {
  constructor(readonly method: string, readonly args: readonly Value[]) {}

  get signature(): string {
    return `${this.method}/${this.args.length}`;
  }

  text(at: number): Text {
    const value = this.args[at] ?? null;
    const text = scalarText(value);
    if (text === undefined) {
      throw new MethodError(`${this.method}() expects a text, found ${describeKind(value)}`);
    }
    return text;
  }

  integer(at: number): number {
    const value = this.args[at] ?? null;
    if (typeof value === "number") return value;
    throw new MethodError(`${this.method}() expects a number, found ${describeKind(value)}`);
  }

  unknownTo(what: string): MethodError {
    return new MethodError(`${what} has no method ${this.method}() with ${this.args.length} arguments`);
  }
}

function callOnText(target: Text, call: Call, asName: boolean): Value {
  const { raw } = target;
  switch (call.signature) {
    case "endsWith/1":
      return raw.endsWith(call.text(0).raw);
    case "startsWith/1":
      return raw.startsWith(call.text(0).raw);
    case "contains/1":
      return raw.includes(call.text(0).raw);
    case "equals/1":
      return sameScalar(target, call.args[0] ?? null);
    case "equalsIgnoreCase/1":
      return raw.toLowerCase() === call.text(0).raw.toLowerCase();
    case "length/0":
      return raw.length;
    case "isEmpty/0":
      return raw === "";
  }
  const base = target.isMixed && asName ? Text.own(target.asName) : target;
  switch (call.signature) {
    case "trim/0":
      return base.derive(unconfusable(target, base, call).trim());
    case "toLowerCase/0":
      return base.derive(unconfusable(target, base, call).toLowerCase());
    case "toUpperCase/0":
      return base.derive(unconfusable(target, base, call).toUpperCase());
    case "substring/1":
      return substring(base, call.integer(0), base.raw.length);
    case "substring/2":
      return substring(base, call.integer(0), call.integer(1));
    case "split/1":
      return split(base, call.text(0).raw);
    case "replace/2":
      return replace(base, call.text(0).raw, call.text(1));
  }
  throw call.unknownTo("a text");
}

function callOnList({ items }: List, call: Call): Value {
  switch (call.signature) {
    case "size/0":
      return items.length;
    case "isEmpty/0":
      return items.length === 0;
    case "contains/1":
      return items.some((item) => sameScalar(item, call.args[0] ?? null));
    case "get/1":
      return itemAt(items, call.integer(0));
    case "add/1":
      items.push(call.args[0] ?? null);
      return true;
    case "iterator/0":
      return new Iteration(new List(items, false));
  }
  throw call.unknownTo("a list");
}

function callOnIteration(target: Iteration, call: Call): Value {
  switch (call.signature) {
    case "hasNext/0":
      return target.hasNext();
    case "next/0": {
      const value = target.next();
      if (value === undefined) throw new MethodError("next() at the end of the list");
      return value;
    }
  }
  throw call.unknownTo("an iterator");
}

function callOnMap(target: ReadonlyMap<string, Value>, call: Call): Value {
  switch (call.signature) {
    case "get/1":
      return target.get(call.text(0).raw) ?? null;
    case "containsKey/1":
      return target.has(call.text(0).raw);
    case "size/0":
      return target.size;
  }
  throw call.unknownTo("a map");
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

/** Refuses {@link confusable} external text, since trimming or case changes could merge names. */
function unconfusable(target: Text, base: Text, { method }: Call): string {
  for (const text of target.foreign) {
    const reason = text === "" ? undefined : confusable(text);
    if (reason !== undefined) throw new MethodError(`${method}() does not take from outside ${reason}`);
  }
  return base.raw;
}

function substring(text: Text, from: number, to: number): Text {
  if (from > to || to > text.length) {
    throw new MethodError(`no part from ${from} to ${to} in a text of ${text.length} characters`);
  }
  return text.derive(text.raw.slice(from, to));
}

/** Omits trailing empty parts, as in Java. */
function split(text: Text, separator: string): List {
  if (separator === "") throw new MethodError("split() expects a separator");
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
