import { evaluate } from "./evaluator.ts";
import { InvalidExpression } from "./invalid_expression.ts";
import { parse } from "./parser.ts";
import { describeKind, List, scalarText, type Value, type Variables } from "./value.ts";
import type { Text } from "./text.ts";

/** Compiled assignment expression. */
export interface Expression {
  /** Returns one text, of a list the first item; `undefined` if null, empty or blank. @throws {InvalidExpression} */
  text(variables: Variables): string | undefined;
  /** Like {@link text}, with external values escaped for a distinguished name. */
  name(variables: Variables): string | undefined;
  /** Returns a list, also for a single value; empty for null. @throws {InvalidExpression} */
  list(variables: Variables): readonly Text[];
}

/** Compiles an expression (authentication.md 6.2). @throws {InvalidExpression} */
export function compileExpression(source: string): Expression {
  const program = parse(source);
  const run = (variables: Variables, asName: boolean) => evaluate(source, program, variables, asName);
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
      const items = value instanceof List ? value.items : [value];
      return items.map((item) => asText(source, item));
    },
  };
}

function asText(source: string, value: Value): Text {
  const text = scalarText(value);
  if (text === undefined) {
    throw new InvalidExpression(source, 0, `expected a text as result, found ${describeKind(value)}`);
  }
  return text;
}

function notBlank(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
