import ts from "typescript";
import { syntaxTree } from "./exports.ts";

/** Function and its number of lines, from the first to the last. */
export interface FunctionLength {
  readonly name: string;
  readonly lines: number;
}

/**
 * Returns functions with more than `most` lines, including nested functions, without comments before them.
 */
export function longFunctions(text: string, most: number): FunctionLength[] {
  const source = syntaxTree(text);
  const found: FunctionLength[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart(source)) + 1;
      if (lines > most) found.push({ name: nameOf(node, source), lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOf(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  const { name, parent } = node;
  if (name !== undefined) return name.getText(source);
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText(source);
  return ts.SyntaxKind[node.kind];
}
