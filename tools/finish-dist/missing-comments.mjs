import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import ts from "typescript";

/**
 * Finds comments of fields that the emitted declarations lack: tsc omits them for fields from a spread or from another
 * shape.
 * @param {string} folder - of a package.
 * @returns {[string, { at: number, text: string }[]][]} by path of a declaration file.
 */
export function missingComments(folder) {
  const configPath = resolve(folder, "tsconfig.build.json");
  const { fileNames, options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configPath, ts.sys.readFile).config,
    ts.sys,
    folder,
  );
  const pairs = fileNames.map((source) => [
    source,
    join(folder, "dist", relative(join(folder, "src"), source).replace(/\.ts$/, ".d.ts")),
  ]);
  // Skip the slow program if every reachable field has its comment.
  if (!pairs.some(([, declaration]) => existsSync(declaration) && uncommented(parse(declaration)))) return [];
  const program = ts.createProgram(fileNames, {
    ...options,
    noEmit: true,
    composite: false,
    incremental: false,
    tsBuildInfoFile: undefined,
    rootDir: undefined,
  });
  const checker = program.getTypeChecker();
  return pairs.flatMap(([source, declaration]) => {
    const file = program.getSourceFile(source);
    const module = file && checker.getSymbolAtLocation(file);
    if (!module || !existsSync(declaration)) return [];
    const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
    const insertions = [];
    for (const { name, type } of typedConstants(parse(declaration))) {
      const symbol = exported.get(name);
      if (symbol?.valueDeclaration) collect(checker, type, checker.getTypeOfSymbol(symbol), insertions);
    }
    return insertions.length === 0 ? [] : [[declaration, insertions]];
  });
}

function parse(path) {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** `export declare const Name: Type` */
function typedConstants(file) {
  return file.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => statement.declarationList.declarations)
    .flatMap(({ name, type }) => (ts.isIdentifier(name) && type ? [{ name: name.text, type }] : []));
}

function uncommented(node) {
  return (
    (ts.isPropertySignature(node) && ts.getJSDocCommentsAndTags(node).length === 0) ||
    ts.forEachChild(node, uncommented) === true
  );
}

/** Walks a written type and its resolved type in parallel. */
function collect(checker, node, type, insertions) {
  if (ts.isTypeLiteralNode(node)) {
    for (const member of node.members) {
      const symbol =
        ts.isPropertySignature(member) &&
        member.name &&
        checker.getPropertyOfType(type, ts.isStringLiteral(member.name) ? member.name.text : member.name.getText());
      if (!symbol) continue;
      const comment = ts.getJSDocCommentsAndTags(member).length === 0 ? commentOf(symbol) : undefined;
      if (comment !== undefined) insertions.push({ at: member.getStart(), text: comment + indentOf(member) });
      if (member.type) collect(checker, member.type, checker.getTypeOfSymbol(symbol), insertions);
    }
    return;
  }
  const nodes = argumentsOf(node);
  if (nodes === undefined) return;
  const types =
    !ts.isTupleTypeNode(node) && type.aliasTypeArguments?.length === nodes.length
      ? type.aliasTypeArguments
      : checker.getTypeArguments(type);
  for (const [index, argument] of nodes.entries())
    if (types[index]) collect(checker, argument, types[index], insertions);
}

function argumentsOf(node) {
  if (ts.isTypeReferenceNode(node) || ts.isImportTypeNode(node)) return node.typeArguments;
  if (ts.isTypeOperatorNode(node)) return argumentsOf(node.type);
  if (ts.isTupleTypeNode(node)) return node.elements;
  return ts.isArrayTypeNode(node) ? [node.elementType] : undefined;
}

function commentOf(symbol) {
  const declaration = symbol.declarations?.find(
    (candidate) => !candidate.getSourceFile().fileName.includes("/node_modules/zod/"),
  );
  const comment = declaration && ts.getJSDocCommentsAndTags(declaration).find(ts.isJSDoc);
  return comment?.getText();
}

function indentOf(member) {
  const { line, character } = member.getSourceFile().getLineAndCharacterOfPosition(member.getStart());
  return line === 0 ? " " : `\n${" ".repeat(character)}`;
}
