// Replaces types that zod derives in the emitted declarations by their result. Users' programs check much faster, and
// hovers show plain fields. Works on ./dist, after tsc:
// - `interface X extends z.output<typeof X> {}` and `type X = z.output<typeof X>` get their members,
// - `declare const X` next to one of them gets the type `Schema<X>`, or `Schema<Output, X>` if X is the input.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { applyEdits } from "./finish-dist/edits.mjs";

const format = ts.TypeFormatFlags.NoTruncation;

/** Flattens the declarations in the `dist` of the package in `folder`. @returns {number} the number of types */
export function flattenTypes(folder) {
  const configPath = resolve(folder, "tsconfig.build.json");
  const { fileNames, options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configPath, ts.sys.readFile).config,
    ts.sys,
    folder,
  );
  const targets = fileNames
    .map((source) => ({
      source,
      path: join(folder, "dist", relative(join(folder, "src"), source).replace(/\.ts$/, ".d.ts")),
    }))
    .filter(({ path }) => existsSync(path) && derived(parse(path)).length > 0);
  // No declaration was emitted since the last run.
  if (targets.length === 0) return 0;
  const program = ts.createProgram(fileNames, { ...options, noEmit: true, composite: false, incremental: false });
  const checker = program.getTypeChecker();
  const names = namesOfTypes(fileNames, program, checker);
  let count = 0;
  for (const { source, path } of targets) {
    const text = readFileSync(path, "utf8");
    const edits = new FlatFile({ program, checker, names, source }).edits(parse(path));
    count += edits.filter(({ isType }) => isType).length;
    const done = applyEdits(text, edits, JSON.parse(readFileSync(`${path}.map`, "utf8")));
    writeFileSync(path, done.text);
    writeFileSync(`${path}.map`, JSON.stringify(done.map));
  }
  return count;
}

function parse(path) {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** The declarations whose whole type comes from `z.input` or `z.output`. */
function derived(file) {
  return file.statements.filter((node) => /^z\.(?:input|output)</.test(zodType(node)?.getText() ?? ""));
}

/** `z.output<typeof X>` in the declaration of a type. */
function zodType(node) {
  if (ts.isTypeAliasDeclaration(node)) return node.type;
  if (ts.isInterfaceDeclaration(node) && node.members.length === 0 && node.heritageClauses?.[0]?.types.length === 1)
    return node.heritageClauses[0].types[0];
  return undefined;
}

/** The derived types by the anonymous type that zod computes for them. */
function namesOfTypes(fileNames, program, checker) {
  const names = new Map();
  for (const source of fileNames)
    for (const node of derived(program.getSourceFile(source))) {
      const type = checker.getTypeAtLocation(zodType(node));
      if (!names.has(type)) names.set(type, { name: node.name.text, source });
    }
  return names;
}

/** Finds the edits of one declaration file. */
class FlatFile {
  #checker;
  #plain;
  #printer;
  #program;
  #source;

  constructor({ program, checker, names, source }) {
    this.#program = program;
    this.#checker = checker;
    this.#source = source;
    this.#printer = new Printer({ checker, names, source });
    this.#plain = new Printer({ checker, names: new Map(), source });
  }

  edits(file) {
    const { statements } = this.#program.getSourceFile(this.#source);
    const types = derived(file).map((node) => this.#typeEdit(node, statements));
    const aliases = file.statements.filter(ts.isTypeAliasDeclaration);
    const named = new Set([...derived(file), ...aliases].map(({ name }) => name.text));
    const constants = statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .filter(({ name, type }) => type === undefined && named.has(name.text));
    const schemas = constants.flatMap((constant) => this.#constantEdit(constant, file));
    const needsImport = schemas.length > 0 && !/import .*\bSchema\b/.test(file.text);
    return [
      ...(needsImport ? [{ at: 0, text: `import type { Schema } from "${this.#schemaFile()}";\n` }] : []),
      ...types,
      ...schemas,
    ];
  }

  #typeEdit(node, statements) {
    const source = statements.find(({ name, kind }) => kind === node.kind && name.text === node.name.text);
    const type = this.#checker.getTypeAtLocation(source.name);
    const place = ts.isInterfaceDeclaration(node) ? node.heritageClauses[0] : node.type;
    const text = ts.isInterfaceDeclaration(node)
      ? this.#printer.members(type, source, "")
      : this.#printer.expanded(type, source);
    const end = ts.isInterfaceDeclaration(node) ? node.end : place.end;
    return { at: place.getStart(), remove: end - place.getStart(), text, isType: true };
  }

  #constantEdit(constant, file) {
    const internals = this.#property(this.#checker.getTypeAtLocation(constant), "_zod");
    const emitted = file.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .find(({ name }) => name.text === constant.name.text);
    if (internals === undefined || emitted?.type === undefined) return [];
    const name = constant.name.text;
    const [output, input] = ["output", "input"].map((side) => this.#property(internals, side));
    const isSame = this.#plain.expanded(output, constant) === this.#plain.expanded(input, constant);
    const declared = derived(file).find((node) => node.name.text === name);
    const isInput = declared !== undefined && zodType(declared).getText().startsWith("z.input<");
    const types = isInput
      ? `${this.#printer.expanded(output, constant)}, ${name}`
      : `${name}, ${this.#printer.expanded(input, constant)}`;
    const text = `Schema<${isSame ? name : types}>`;
    return [{ at: emitted.type.getStart(), remove: emitted.type.end - emitted.type.getStart(), text }];
  }

  #property(type, name) {
    const property = type.getProperty(name);
    return property && this.#checker.getTypeOfSymbol(property);
  }

  #schemaFile() {
    const file = this.#program
      .getSourceFiles()
      .find(
        ({ fileName, statements }) =>
          !fileName.includes("/node_modules/") &&
          statements.some((node) => ts.isTypeAliasDeclaration(node) && node.name.text === "Schema"),
      );
    return specifier(this.#source, file.fileName);
  }
}

function specifier(from, to) {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** Prints named types by name, and anonymous objects with the comments of their fields. */
class Printer {
  #checker;
  #names;
  #source;

  constructor({ checker, names, source }) {
    this.#checker = checker;
    this.#names = names;
    this.#source = source;
  }

  /** A type with its members, even if it has a name. */
  expanded(type, at) {
    return this.#unnamed(type, at, "");
  }

  members(type, at, indent) {
    const properties = this.#checker.getPropertiesOfType(type);
    const lines = properties.map((property) => {
      const declaration = property.valueDeclaration ?? property.declarations?.[0];
      const optional = property.flags & ts.SymbolFlags.Optional ? "?" : "";
      const name = /^[A-Za-z_$][\w$]*$/.test(property.name) ? property.name : JSON.stringify(property.name);
      const value = this.#text(this.#checker.getTypeOfSymbolAtLocation(property, at), at, `${indent}    `);
      return `${comment(declaration, `${indent}    `)}${indent}    ${name}${optional}: ${value};\n`;
    });
    // An index signature must allow the values of all properties, also in programs without exactOptionalPropertyTypes.
    const isOptional = properties.some(({ flags }) => flags & ts.SymbolFlags.Optional);
    for (const { keyType, type: value } of this.#checker.getIndexInfosOfType(type)) {
      const values = this.#text(value, at, `${indent}    `);
      const missing = isOptional && !/^(?:any|unknown)$|\bundefined$/.test(values) ? " | undefined" : "";
      lines.push(`${indent}    [key: ${this.#text(keyType, at, indent)}]: ${values}${missing};\n`);
    }
    return `{\n${lines.join("")}${indent}}`;
  }

  #text(type, at, indent) {
    const named = this.#names.get(type);
    if (named !== undefined)
      return named.source === this.#source
        ? named.name
        : `import("${specifier(this.#source, named.source)}").${named.name}`;
    return this.#unnamed(type, at, indent);
  }

  #unnamed(type, at, indent) {
    if (!this.#hasFields(type, 0)) return this.#checker.typeToString(type, at, format);
    if (type.isUnion()) {
      // `boolean` is a union of two; the checker prints simple members better together.
      const fields = type.types.filter((member) => this.#hasFields(member, 0));
      const simple = type.types.filter((member) => !fields.includes(member));
      const texts = fields.map((member) => this.#text(member, at, indent));
      return [...texts, ...this.#simple(simple, at)].join(" | ");
    }
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type);
      const text = this.#text(item, at, indent);
      return item.isUnion() ? `(${text})[]` : `${text}[]`;
    }
    return this.members(type, at, indent);
  }

  #simple(types, at) {
    const texts = types.map((type) => this.#checker.typeToString(type, at, format));
    return texts.includes("true") && texts.includes("false")
      ? ["boolean", ...texts.filter((text) => text !== "true" && text !== "false")]
      : texts;
  }

  /** Whether a type contains an anonymous object with fields, whose comments `typeToString` would lose. */
  #hasFields(type, depth) {
    if (depth > 20) return false;
    if (type.isUnion()) return !type.aliasSymbol && type.types.some((member) => this.#hasFields(member, depth + 1));
    if (!(type.flags & ts.TypeFlags.Object) || type.aliasSymbol) return false;
    if (this.#checker.isArrayType(type))
      return this.#checker.getTypeArguments(type).some((item) => this.#hasFields(item, depth + 1));
    return (
      (type.symbol?.name === "__type" || type.symbol?.name === "__object" || type.symbol === undefined) &&
      type.getCallSignatures().length === 0 &&
      this.#checker.getPropertiesOfType(type).length > 0
    );
  }
}

/** The comment of a field in the source. */
function comment(declaration, indent) {
  if (declaration === undefined) return "";
  const [doc] = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc);
  return doc === undefined ? "" : `${indent}${doc.getText().replaceAll(/\n\s*/g, `\n${indent} `)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) flattenTypes(process.cwd());
