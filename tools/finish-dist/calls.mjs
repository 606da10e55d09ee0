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
  "plane",
  "query",
  "errors",
  "errorBodies",
]);

/** A moment with any offset. zod's own format would bring those of times and durations into bundles. */
const moment =
  'z.stringFormat("datetime", /^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$/)';

/** Calls that become a smaller schema: its text, or the texts around the first argument. */
const checkedAs = new Map([
  // Values are for editors and documents. Newer services may have more.
  ...["openEnum", "suggestedText", "known", "z.enum"].map((name) => [name, "z.string()"]),
  ["alwaysSent", ["z.optional(", ")"]],
  ["z._default", ["z.optional(", ")"]],
  ["z.iso.datetime", moment],
  ["z.iso.date", 'z.stringFormat("date", /^\\d{4}-\\d\\d-\\d\\d$/)'],
  ["z.discriminatedUnion", ["z.object({ [", "]: z.string() })"]],
]);

/**
 * Finds the parts of an emitted module that clients do not need: validation of requests, limits (which newer services may
 * change) and texts. Without them, the bundle of the whole client is 30 % smaller.
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
    // Callers receive the answer itself, not zod's copy: only what a schema refuses counts.
    if (ts.isCallExpression(node) && checkedAs.has(node.expression.getText())) {
      const made = checkedAs.get(node.expression.getText());
      if (typeof made === "string") cut(node.getStart(), node.end, made);
      else {
        const [first] = node.arguments;
        cut(node.getStart(), first.getStart(), made[0]);
        visit(first);
        cut(first.end, node.end, made[1]);
      }
      return;
    }
    if (isCallOf(node, "defineEndpoint") && ts.isObjectLiteralExpression(node.arguments[0])) {
      const { properties } = node.arguments[0];
      for (const [index, property] of properties.entries()) {
        const name = property.name?.text;
        const { initializer } = property;
        const policy = name === "inSession" && ts.isObjectLiteralExpression(initializer) ? initializer : undefined;
        const direct = policy?.properties.find((field) => field.name?.text === "direct");
        if (unread.has(name) || (policy !== undefined && direct === undefined))
          cut(property.getFullStart(), properties[index + 1]?.getFullStart() ?? properties.end);
        else if (name === "body" && (isCallOf(initializer, "json") || isCallOf(initializer, "optionalJson")))
          cut(initializer.getStart(), initializer.end, '{ kind: "json" }');
        else if (direct !== undefined) cut(initializer.getStart(), initializer.end, `{ ${direct.getText()} }`);
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
