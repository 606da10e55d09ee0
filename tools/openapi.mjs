// Writes packages/contract/openapi.json from the contract and the comments in its sources. With `--check` it only
// compares.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { onSources, writeOrCheck } from "./generated-file.mjs";
import { writeLists } from "./lists.mjs";

onSources(import.meta.url);
writeLists();
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { examples } = await import("../packages/contract/src/examples/index.ts");
const { sharedHeaders } = await import("../packages/contract/src/openapi/shared-headers.ts");
const { toOpenApi } = await import("../packages/contract/src/openapi/openapi.ts");
const { furtherKeywords, variants } = await import("../packages/contract/src/openapi/variants.ts");
const { operationsNotYet } = await import("./not-yet.mjs");

const operationsFile = join(root, "packages/contract/src/operations.ts");
// A module's names have no order, so the document takes the order of the files.
const operationFiles = reExportedFiles(operationsFile);
const contract = Object.assign({}, ...(await Promise.all(operationFiles.map((file) => import(file)))));

const document = toOpenApi(contract, {
  title: "Shoal",
  version: "0.1.0",
  description:
    "Browser sessions for agents: a real Chromium with its own filesystem, profile and network exit, and every operation on it.",
  license: { name: "Apache 2.0", identifier: "Apache-2.0" },
  descriptions: { ...readDescriptions(), areas: readAreas() },
  headers: sharedHeaders,
  notImplemented: operationsNotYet,
  examples,
  furtherKeywords,
  variants,
});
writeOrCheck("packages/contract/openapi.json", `${JSON.stringify(document, null, 2)}\n`, {
  source: "the contract",
  tool: "openapi.mjs",
});

/** The files of `export * from "…"`. */
function reExportedFiles(path) {
  return parse(path)
    .statements.filter(ts.isExportDeclaration)
    .map(({ moduleSpecifier }) => join(dirname(path), moduleSpecifier.text));
}

/** Reads the comment above `const area = "…"` of each file; files of one area need only one. */
function readAreas() {
  const areas = operationFiles.flatMap((file) =>
    parse(file)
      .statements.filter(ts.isVariableStatement)
      .filter(({ declarationList }) => declarationList.declarations[0].name.text === "area")
      .flatMap((statement) => {
        const [doc] = ts.getJSDocCommentsAndTags(statement);
        return doc === undefined
          ? []
          : [
              [
                statement.declarationList.declarations[0].initializer.text,
                prose(ts.getTextOfJSDocComment(doc.comment)),
              ],
            ];
      }),
  );
  const missing = new Set(Object.values(contract).map(({ area }) => area)).difference(new Map(areas));
  if (missing.size > 0) throw new Error(`Write a comment above \`const area\` of ${[...missing].join(", ")}.`);
  return Object.fromEntries(areas);
}

function parse(path) {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** Reads the comments of schemas, their fields and operations in the form of `toOpenApi`. */
function readDescriptions() {
  const config = ts.readConfigFile(join(root, "packages/contract/tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, join(root, "packages/contract"));
  const entries = ["packages/contract/src/index.ts", "packages/schemas/src/index.ts"].map((path) => join(root, path));
  const program = ts.createProgram(entries, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const reader = createReader(checker);
  const [operations, schemas] = entries.map((path) => exportsOf(checker, program.getSourceFile(path)));
  return {
    schemas: Object.fromEntries(
      [...schemas]
        .filter(([, symbol]) => symbol.valueDeclaration)
        .map(([name, symbol]) => [
          name,
          { description: reader.comment(symbol), ...reader.schema(valueType(checker, symbol)) },
        ]),
    ),
    operations: Object.fromEntries(
      [...operations]
        .filter(([name]) => Object.hasOwn(contract, name))
        .map(([name, symbol]) => {
          const type = valueType(checker, symbol);
          const part = (key) => reader.schema(reader.property(type, key));
          return [name, { description: reader.comment(symbol), params: part("params"), query: part("query") }];
        }),
    ),
  };
}

function exportsOf(checker, file) {
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file));
  return new Map(
    symbols.map((symbol) => [
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    ]),
  );
}

function valueType(checker, symbol) {
  return checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration);
}

function createReader(checker) {
  const maxDepth = 6;
  return {
    comment,
    property,
    schema(type) {
      const value = type && property(property(type, "_zod"), "input");
      return value === undefined ? undefined : { fields: fieldsOf(value, 0) };
    },
  };

  function property(type, name) {
    const symbol = type && checker.getNonNullableType(type).getProperty(name);
    return symbol && checker.getTypeOfSymbol(symbol);
  }

  function comment(symbol) {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
    return text === "" ? undefined : prose(text);
  }

  function fieldsOf(type, depth) {
    const inner = checker.getNonNullableType(type);
    if (depth > maxDepth) return undefined;
    if (inner.isUnionOrIntersection())
      return Object.assign({}, ...inner.types.map((member) => fieldsOf(member, depth)));
    if (checker.isArrayType(inner)) return fieldsOf(checker.getTypeArguments(inner)[0], depth + 1);
    if (!(inner.flags & ts.TypeFlags.Object)) return undefined;
    const own = checker.getPropertiesOfType(inner).filter(isOurs);
    return Object.fromEntries(own.map((symbol) => [symbol.name, fieldDocs(symbol, depth)]));
  }

  function fieldDocs(symbol, depth) {
    const tag = symbol.getJsDocTags(checker).find(({ name }) => name === "deprecated");
    const note = tag && `Deprecated: ${prose(ts.displayPartsToString(tag.text))}`;
    const description = [comment(symbol), note].filter(Boolean).join(" ");
    return {
      ...(description !== "" && { description }),
      ...(tag && { deprecated: true }),
      fields: fieldsOf(checker.getTypeOfSymbol(symbol), depth + 1),
    };
  }
}

/** Whether a field is declared in this repository, unlike the methods of a `File`. */
function isOurs(symbol) {
  return (
    symbol.declarations?.some((declaration) => !declaration.getSourceFile().fileName.includes("/node_modules/")) ??
    false
  );
}

/** Returns a comment without line breaks and links. */
function prose(text) {
  return text
    .replace(/\{@link (?:[^}|]*\|\s*)?([^}|]+)\}/g, "$1")
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll("\n", " ").trim())
    .join("\n\n");
}
