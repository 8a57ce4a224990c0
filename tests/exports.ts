import { dirname, join } from "node:path";
import ts from "typescript";

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
}

/** Names that a source text declares with `export`. */
export function exportedNames(text: string): string[] {
  return parse(text).statements.flatMap((statement) => {
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

/** What a file takes of others, as `path: name`; `path: *` where the names do not stand at the import. */
export function importedNames(path: string, text: string): string[] {
  const found: string[] = [];
  const take = (from: ts.Node | undefined, names: readonly string[]) => {
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith(".")) return;
    for (const name of names) found.push(`${join(dirname(path), from.text)}: ${name}`);
  };
  const deep = text.includes("import("); // elsewhere than at the top
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
  visit(parse(text));
  return found;
}
