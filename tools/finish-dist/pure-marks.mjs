import ts from "typescript";

const mark = "/* @__PURE__ */ ";

/**
 * Returns the places of pure marks: before each call and `new` that runs on load. Modules of packages with
 * `"sideEffects": false` only declare, so bundlers may drop each call with its declaration.
 * @param {string} text - of an emitted module.
 * @returns {{ at: number, text: string }[]}
 */
export function pureMarks(text) {
  const file = ts.createSourceFile("module.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const marks = [];
  const visit = (node) => {
    // Of a class only static fields run on load, of a function nothing.
    if (
      ts.isFunctionLike(node) ||
      (ts.isPropertyDeclaration(node) &&
        !node.modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.StaticKeyword))
    )
      return;
    if (
      (ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.ImportKeyword) ||
      ts.isNewExpression(node)
    ) {
      const at = node.getStart(file);
      if (!text.slice(0, at).trimEnd().endsWith("@__PURE__ */") && !marks.some((other) => other.at === at))
        marks.push({ at, text: mark });
    }
    ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) if (isDeclaration(statement)) visit(statement);
  return marks;
}

/** False for a statement such as `start();`, which runs for its side effect. */
function isDeclaration(statement) {
  return ts.isVariableStatement(statement) || ts.isClassDeclaration(statement) || ts.isExportAssignment(statement);
}
