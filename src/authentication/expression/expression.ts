import { evaluate } from "./evaluator.ts";
import { InvalidExpression } from "./invalid_expression.ts";
import { parse } from "./parser.ts";
import { describeKind, List, scalarText, type Value, type Variables } from "./value.ts";
import type { Text } from "./text.ts";

/** An assignment expression, ready to be applied to what is known about a user. */
export interface Expression {
  /**
   * The result as one text, of a list the first item; `undefined` if it is null, an empty list or blank.
   * @throws {InvalidExpression}
   */
  text(variables: Variables): string | undefined;
  /** As {@link text}, with what comes from outside escaped where it stands within a value of the name. */
  name(variables: Variables): string | undefined;
  /** The result as a list, of a single value a list of one; null is no list. @throws {InvalidExpression} */
  list(variables: Variables): readonly string[] | undefined;
}

/**
 * Reads an expression.
 * @throws {InvalidExpression} If it does not keep to the grammar of authentication.md 6.2.
 */
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
      if (value === null) return undefined;
      const items = value instanceof List ? value.items : [value];
      return items.map((item) => asText(source, item).raw);
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
