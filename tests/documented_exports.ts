import ts from "typescript";
import { syntaxTree } from "./exports.ts";

/** Exported declaration without a doc comment. */
export interface Undocumented {
  /** Line number, from 1. */
  readonly line: number;
  readonly name: string;
}

/**
 * Returns the exported functions, classes and constants of a file without a doc comment. One suffices for all
 * overloads, and for constants without a blank line between them. Re-exports and types need none.
 */
export function undocumentedExports(source: string): Undocumented[] {
  const file = syntaxTree(source);
  const found = new Map<string, { readonly line: number; documented: boolean }>();
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  /** Line on which the last documented constant ends. */
  let told = 0;
  for (const statement of file.statements) {
    if (!isExported(statement)) continue;
    const line = lineOf(statement.getStart());
    const documented = ts.getJSDocCommentsAndTags(statement).some(ts.isJSDoc) ||
      (ts.isVariableStatement(statement) && line === told + 1);
    if (documented && ts.isVariableStatement(statement)) told = lineOf(statement.getEnd());
    for (const name of namesOf(statement)) {
      const known = found.get(name);
      if (known === undefined) found.set(name, { line, documented });
      else known.documented ||= documented;
    }
  }
  return [...found].flatMap(([name, { line, documented }]) => documented ? [] : [{ line, name }]);
}

function isExported(statement: ts.Statement): boolean {
  return ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  if (
    ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  ) {
    return [statement.name?.text ?? "default"];
  }
  return [];
}
