import ts from "typescript";

/** An exported declaration without a doc comment. */
export interface Undocumented {
  /** From 1. */
  readonly line: number;
  readonly name: string;
}

/**
 * Returns the exported functions and classes of a file that have no doc comment; of overloads one must have it. Types and constants
 * need one only where their name and members do not say it all.
 */
export function undocumentedExports(source: string): Undocumented[] {
  const file = ts.createSourceFile("file.ts", source, ts.ScriptTarget.Latest, true);
  const found = new Map<string, { readonly line: number; documented: boolean }>();
  for (const statement of file.statements) {
    if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) continue;
    if (!statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    const name = statement.name?.text ?? "default";
    const line = file.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
    const documented = ts.getJSDocCommentsAndTags(statement).some(ts.isJSDoc);
    const known = found.get(name);
    if (known === undefined) found.set(name, { line, documented });
    else known.documented ||= documented;
  }
  return [...found].flatMap(([name, { line, documented }]) => documented ? [] : [{ line, name }]);
}
