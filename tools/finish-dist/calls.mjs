import { dirname, join } from "node:path";
import ts from "typescript";

/** Fields that only a server, a document or a command line reads. */
const unread = new Set([
  "area",
  "aboutExistence",
  "audited",
  "handoff",
  "idempotency",
  "moves",
  "scope",
  "summary",
  "tool",
  "params",
  "query",
  "errors",
  "errorBodies",
]);

/**
 * Finds the parts of an emitted module that clients do not need: validation of requests, limits (which newer services may
 * change) and texts. Without them, bundles of the whole client are a tenth smaller.
 * @param {string} text - of a module of the contract or its schemas.
 */
export function withoutWhatClientsLeave(text) {
  const file = ts.createSourceFile("module.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const edits = [];
  const cut = (from, to, inserted = "") => edits.push({ at: from, remove: to - from, text: inserted });
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier?.text === "@shoal/schemas")
        cut(node.moduleSpecifier.getStart(), node.moduleSpecifier.end, '"@shoal/schemas/calls"');
      return;
    }
    if (isCallOf(node, "checked")) {
      const [schema] = node.arguments;
      cut(node.getStart(), schema.getStart());
      visit(schema);
      cut(schema.end, node.end);
      return;
    }
    // They accept every text; their values are for editors and documents.
    if (isCallOf(node, "openEnum") || isCallOf(node, "suggestedText")) {
      const [first] = node.arguments;
      if (first !== undefined) cut(first.getFullStart(), node.arguments.end);
      return;
    }
    if (isCallOf(node, "defineEndpoint") && ts.isObjectLiteralExpression(node.arguments[0])) {
      const { properties } = node.arguments[0];
      for (const [index, property] of properties.entries()) {
        const name = property.name?.text;
        const { initializer } = property;
        if (unread.has(name)) cut(property.getFullStart(), properties[index + 1]?.getFullStart() ?? properties.end);
        else if (name === "body" && (isCallOf(initializer, "json") || isCallOf(initializer, "optionalJson")))
          cut(initializer.getStart(), initializer.end, '{ kind: "json" }');
        else visit(property);
      }
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return edits;
}

/** The modules in the same folder that an emitted module imports, including itself, by file name. */
export function reachableFrom(entry, read) {
  const found = new Map();
  const visit = (name) => {
    if (found.has(name)) return;
    const text = read(name);
    found.set(name, text);
    for (const { fileName } of ts.preProcessFile(text).importedFiles)
      if (fileName.startsWith(".")) visit(join(dirname(name), fileName));
  };
  visit(entry);
  return found;
}

function isCallOf(node, name) {
  return (
    node !== undefined && ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name
  );
}
