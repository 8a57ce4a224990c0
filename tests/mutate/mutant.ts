import ts from "typescript";

/** Kind of mistake in a mutant. */
export type MutantKind = "condition" | "guard" | "logic" | "comparison" | "number" | "await" | "close";

/** Small mistake in one place of a source text. */
export interface Mutant {
  readonly kind: MutantKind;
  /** Line of the mistake, from 1. */
  readonly line: number;
  /** Original line without the blanks around it, which identifies the place after lines have moved. */
  readonly at: string;
  /** Offsets of the replaced text. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Whether it removes a guard: an `if` whose body refuses, returns early or goes on to the next item. */
  readonly removesGuard?: true;
  /** Change for the report, such as `a < b → (a <= b)`. */
  readonly change: string;
}

/** Replacements of comparisons: off by one, or negated. */
const COMPARISONS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
]);

const LOGIC: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
]);

/** Methods and functions that end, close or release something. */
const CLOSES =
  /^(?:close|end|destroy|abort|cancel|clear|clearTimeout|clearInterval|dispose|release|off|removeListener|removeEventListener|stop|terminate|delete|unwatch)$/;

/** Numbers from here on are limits and times: tests can notice a doubled value, but not one more. */
const LARGE = 16;

/** Returns all mutants of a source text, in the order of their places. */
export function mutantsOf(text: string): Mutant[] {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const lines = text.split("\n");
  const found: Mutant[] = [];
  const add = (
    kind: MutantKind,
    node: ts.Node,
    replacement: string,
    more: Pick<Mutant, "removesGuard"> = {},
  ) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line;
    const before = text.slice(start, node.end);
    found.push({
      kind,
      line: line + 1,
      at: lines[line]?.trim() ?? "",
      start,
      end: node.end,
      replacement,
      change: `${short(before)} → ${replacement === "" ? "nothing" : short(replacement)}`,
      ...more,
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isIfStatement(node)) {
      const guard = node.elseStatement === undefined && leaves(node.thenStatement);
      add(
        guard ? "guard" : "condition",
        node.expression,
        "false",
        refuses(node.thenStatement) ? { removesGuard: true } : {},
      );
      add("condition", node.expression, "true");
    } else if (ts.isConditionalExpression(node)) {
      add("condition", node.condition, "true");
      add("condition", node.condition, "false");
    } else if (ts.isWhileStatement(node) || ts.isForStatement(node)) {
      const condition = ts.isWhileStatement(node) ? node.expression : node.condition;
      if (condition !== undefined) add("condition", condition, "false");
    } else if (ts.isBinaryExpression(node)) {
      const { kind } = node.operatorToken;
      const [comparison, logic] = [COMPARISONS.get(kind), LOGIC.get(kind)];
      if (comparison !== undefined) add("comparison", node, withOperator(node, comparison));
      if (logic !== undefined) add("logic", node, withOperator(node, logic));
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add("logic", node, node.operand.getText(source));
    } else if (ts.isNumericLiteral(node)) {
      const value = Number(node.text);
      add("number", node, String(value < LARGE ? value + 1 : value * 2));
    } else if (ts.isExpressionStatement(node)) {
      const { expression } = node;
      const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
      if (ts.isAwaitExpression(expression)) add("await", expression, `void ${call.getText(source)}`);
      if (ts.isCallExpression(call) && CLOSES.test(nameOf(call.expression))) add("close", node, ";");
    }
    ts.forEachChild(node, visit);
  };
  const withOperator = ({ left, right }: ts.BinaryExpression, operator: string) =>
    // Parentheses keep the precedence of the operators around it.
    `(${left.getText(source)} ${operator} ${right.getText(source)})`;
  visit(source);
  return found.sort((a, b) => a.start - b.start);
}

/** Returns the mutants of a source text that each remove one guard. */
export function guardsOf(text: string): Mutant[] {
  return mutantsOf(text).filter(({ removesGuard }) => removesGuard === true);
}

/** Returns the source text with the mistake in it. */
export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Reports whether a statement is only a `return`, `throw`, `continue` or `break`. */
function leaves(statement: ts.Statement): boolean {
  if (ts.isBlock(statement)) return statement.statements.length === 1 && statement.statements.every(leaves);
  return ts.isReturnStatement(statement) || ts.isThrowStatement(statement) ||
    ts.isContinueStatement(statement) || ts.isBreakStatement(statement);
}

/** Reports whether a statement ends with `return`, `throw`, `continue` or a call of `httpError()`. */
function refuses(statement: ts.Statement): boolean {
  if (ts.isBlock(statement)) {
    const last = statement.statements.at(-1);
    return last !== undefined && refuses(last);
  }
  if (ts.isExpressionStatement(statement)) return /\bhttpError\(/.test(statement.getText());
  return ts.isReturnStatement(statement) || ts.isThrowStatement(statement) ||
    ts.isContinueStatement(statement);
}

function nameOf(called: ts.Expression): string {
  if (ts.isPropertyAccessExpression(called)) return called.name.text.replace(/^#/, "");
  return ts.isIdentifier(called) ? called.text : "";
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
