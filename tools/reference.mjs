// Writes docs/reference, which is not in git, from the exports of the published packages and their comments. With
// `--check` it only fails on warnings: broken links, unknown parameters, types that are shown but not exported.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, LogLevel, ReflectionKind } from "typedoc";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const isCheck = process.argv.includes("--check");
/**
 * The public entry points. Declaring packages come before re-exporting ones, for which TypeDoc shows only the schema of
 * a schema and type with one name.
 */
const packages = [
  "packages/primitives",
  "packages/schemas",
  "packages/contract",
  "packages/transport",
  "packages/router",
  "packages/client",
  "packages/testing",
  "apps/cli",
  "apps/server",
];

/** Import name by source file; the first of two names. */
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

/** Copies the comment of a type to the schema of the same name. */
function describeSchemas({ children = [] }) {
  const types = new Map(
    children
      .filter(({ comment, kind }) => comment !== undefined && kind !== ReflectionKind.Variable)
      .map(({ comment, name }) => [name, comment]),
  );
  for (const child of children)
    if (child.kind === ReflectionKind.Variable) child.comment ??= types.get(child.name)?.clone();
}

const work = mkdtempSync(join(tmpdir(), "shoal-reference-"));
try {
  const tsconfig = join(work, "tsconfig.json");
  const base = join(root, "tsconfig.base.json");
  const { compilerOptions } = JSON.parse(readFileSync(base, "utf8"));
  // The entries reach all other modules.
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
    // `npm run check` checks types.
    skipErrorChecking: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    disableSources: true,
    githubPages: false,
    validation: {
      notExported: true,
      invalidLink: true,
      invalidPath: true,
      rewrittenLink: true,
      unusedMergeModuleWith: true,
      notDocumented: true,
    },
    packagesRequiringDocumentation: [...names],
    // Fields may lack a comment; exports and members of classes may not.
    // TypeDoc loses the comments of methods that pass through Omit.
    intentionallyNotDocumented: [
      "@shoal/router/fetch.FetchRouterOptions.onError",
      "@shoal/router/fetch.FetchRouterOptions.onRequest",
    ],
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
