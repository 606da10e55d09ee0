import { build } from "esbuild";
import { rm } from "node:fs/promises";

const out = "dist/program";
await rm(out, { recursive: true, force: true });

/** One file each, loaded when it is first needed, so that a session pays only for what it uses. */
const parts = ["start", "program", "operations", "read-assign"];

/**
 * Leaves the other parts out of a part.
 * @type {import("esbuild").Plugin}
 */
const apart = {
  name: "parts apart",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/(${parts.join("|")})\\.ts$`) }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: `./${path.slice(path.lastIndexOf("/") + 1, -".ts".length)}.cjs`, external: true } : undefined,
    );
  },
};

/**
 * The messages of fifty languages, which nothing asks for.
 * @type {import("esbuild").Plugin}
 */
const withoutLocales = {
  name: "without locales",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: "no-locales" }));
    onLoad({ filter: /.*/, namespace: "no-locales" }, () => ({ contents: "export {};" }));
  },
};

for (const part of parts) {
  await build({
    entryPoints: { [part]: part === "read-assign" ? "src/session/read-assign.ts" : `src/${part}.ts` },
    outdir: out,
    bundle: true,
    platform: "node",
    target: "node24",
    // CommonJS loads 20 ms faster than ES modules, and most of a start is loading. `import()` would load their loader too.
    format: "cjs",
    supported: { "dynamic-import": false },
    outExtension: { ".js": ".cjs" },
    conditions: ["@shoal/source"],
    plugins: [apart, withoutLocales],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "linked",
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
    logLevel: "warning",
  });
}
