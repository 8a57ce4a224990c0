import { dirname, join } from "node:path";
import ts from "typescript";

const parsed = new Map<string, ts.SourceFile>();

/** Returns the syntax tree of a source text, with the parents of its nodes; cached by text. */
export function syntaxTree(text: string): ts.SourceFile {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const tree = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  parsed.set(text, tree);
  return tree;
}

/** Last line of an import at the top of a file, also within a text that the file contains. */
const END_OF_IMPORT = /^(?:import "|(?:import .*|\}) from ").*$/gm;

/** Returns a source text up to its last import. */
function importsIn(text: string): string {
  let end = 0;
  for (const { index, 0: line } of text.matchAll(END_OF_IMPORT)) end = index + line.length;
  return text.slice(0, end);
}

/** Returns the names that a source text declares with `export`. */
export function exportedNames(text: string): string[] {
  return syntaxTree(text).statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) ?? [] : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    }
    const isNamed = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement);
    return isNamed && statement.name !== undefined ? [statement.name.text] : [];
  });
}

/** Returns imported names of a file, as `path: name`; `path: *` if the import does not list the names. */
export function importedNames(path: string, text: string): string[] {
  const found: string[] = [];
  const take = (from: ts.Node | undefined, names: readonly string[]) => {
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith(".")) return;
    for (const name of names) found.push(`${join(dirname(path), from.text)}: ${name}`);
  };
  const deep = text.includes("import("); // not only at the top
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const names = node.importClause?.namedBindings;
      const elements = names !== undefined && ts.isNamedImports(names) ? [...names.elements] : undefined;
      take(
        node.moduleSpecifier,
        elements?.map(({ propertyName, name }) => (propertyName ?? name).text) ?? ["*"],
      );
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      take(node.arguments[0], ["*"]);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      take(node.argument.literal, [node.qualifier?.getText() ?? "*"]);
    }
    if (deep || ts.isSourceFile(node)) ts.forEachChild(node, visit);
  };
  const read = deep ? text : importsIn(text);
  visit(ts.createSourceFile(path, read, ts.ScriptTarget.Latest, true));
  return found;
}
