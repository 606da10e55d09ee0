import ts from "typescript";

const mark = "/* @__PURE__ */ ";

/**
 * Where pure marks belong: before each call and `new` that runs when the module is loaded. Modules of packages with
 * `"sideEffects": false` only declare, so whatever they call for a declaration may be dropped with it.
 *
 * @param {string} text - of an emitted module.
 * @returns {{ at: number, text: string }[]}
 */
export function pureMarks(text) {
  const file = ts.createSourceFile("module.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const marks = [];
  const visit = (node) => {
    // A class runs nothing but its static fields, a function nothing at all.
    if (
      ts.isFunctionLike(node) ||
      (ts.isPropertyDeclaration(node) && !node.modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.StaticKeyword))
    )
      return;
    if ((ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.ImportKeyword) || ts.isNewExpression(node)) {
      const at = node.getStart(file);
      if (!text.slice(0, at).trimEnd().endsWith("@__PURE__ */") && !marks.some((other) => other.at === at)) marks.push({ at, text: mark });
    }
    ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) if (isDeclaration(statement)) visit(statement);
  return marks;
}

/** A statement of its own (`start();`) is there for what it does. */
function isDeclaration(statement) {
  return ts.isVariableStatement(statement) || ts.isClassDeclaration(statement) || ts.isExportAssignment(statement);
}
