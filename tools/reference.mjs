// Writes docs/reference: everything that the published packages export, from the comments in the sources. The folder is not kept in git.
// `--check` writes it elsewhere and only says whether that works without a warning: a link that leads nowhere, a parameter that is not
// there, a type that is shown but not exported.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, LogLevel, ReflectionKind } from "typedoc";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const isCheck = process.argv.includes("--check");
/** What programs outside of this repository import; first what declares a thing, then what exports it again: there TypeDoc shows of a schema and its type of one name the schema alone. */
const packages = [
  "packages/schemas",
  "packages/contract",
  "packages/transport",
  "packages/router",
  "packages/client",
  "packages/testing",
  "apps/cli",
  "apps/server",
];

/** Source file to the name that it is imported by; of two names, the first. */
const entries = new Map();
const names = new Set();
for (const folder of packages) {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  names.add(name);
  for (const [path, target] of Object.entries(exports)) {
    const source = target["@shoal/source"];
    if (!source?.endsWith(".ts")) continue;
    const file = join(root, folder, source);
    if (!entries.has(file)) entries.set(file, join(name, path).replaceAll("\\", "/"));
  }
}

/** A schema and the type of what it checks have one name and one comment, which stands above the type. */
function describeSchemas({ children = [] }) {
  const types = new Map(
    children.filter(({ comment, kind }) => comment !== undefined && kind !== ReflectionKind.Variable).map(({ comment, name }) => [name, comment]),
  );
  for (const child of children) if (child.kind === ReflectionKind.Variable) child.comment ??= types.get(child.name)?.clone();
}

const work = mkdtempSync(join(tmpdir(), "shoal-reference-"));
try {
  const tsconfig = join(work, "tsconfig.json");
  const base = join(root, "tsconfig.base.json");
  const { compilerOptions } = JSON.parse(readFileSync(base, "utf8"));
  // What is not an entry is found from one.
  writeFileSync(
    tsconfig,
    JSON.stringify({
      extends: base,
      compilerOptions: { noEmit: true, typeRoots: [join(root, "node_modules/@types")], types: compilerOptions.types },
      files: [...entries.keys()],
    }),
  );
  const app = await Application.bootstrapWithPlugins({
    entryPoints: [...entries.keys()],
    tsconfig,
    basePath: root,
    name: "Shoal",
    readme: "none",
    out: isCheck ? join(work, "reference") : join(root, "docs/reference"),
    plugin: ["typedoc-plugin-markdown"],
    // Types are checked by `npm run check` already.
    skipErrorChecking: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    disableSources: true,
    githubPages: false,
    validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true, unusedMergeModuleWith: true, notDocumented: true },
    packagesRequiringDocumentation: [...names],
    // A field whose name and type say it all needs no words; what is exported does, and so does what a class has.
    // TypeDoc loses the comments of methods that come by way of Omit.
    intentionallyNotDocumented: ["@shoal/router/fetch.FetchRouterOptions.onError", "@shoal/router/fetch.FetchRouterOptions.onRequest"],
    requiredToBeDocumented: ["Variable", "Function", "Class", "Interface", "TypeAlias", "Method", "Accessor"],
    logLevel: LogLevel.Warn,
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("The sources could not be read.");
  for (const module of project.children ?? []) {
    const file = project.getSymbolIdFromReflection(module)?.fileName ?? "";
    module.name = entries.get(file) ?? entries.get(join(root, file)) ?? module.name;
  }
  for (const module of project.children ?? []) describeSchemas(module);
  app.validate(project);
  await app.generateOutputs(project);
  const { errorCount, warningCount } = app.logger;
  if (errorCount + warningCount > 0) {
    console.error(`The reference was written with ${errorCount} errors and ${warningCount} warnings: see above.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
