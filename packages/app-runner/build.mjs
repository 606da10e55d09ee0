import { build } from "esbuild";
import { copyFile, rename, rm, writeFile } from "node:fs/promises";
import { bundledFiles, licenceNotices } from "../../tools/licences.mjs";

// The previous program stays in place during the build, and after a failed build.
const out = `dist/.program-${process.pid}`;

/**
 * Drops zod's messages in fifty languages.
 * @type {import("esbuild").Plugin}
 */
const withoutLocales = {
  name: "without locales",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: "no-locales" }));
    onLoad({ filter: /.*/, namespace: "no-locales" }, () => ({ contents: "export {};" }));
  },
};

const { metafile } = await build({
  entryPoints: {
    builder: "src/inside/builder.ts",
    forwarder: "src/inside/forwarder.ts",
    runner: "src/inside/runner.ts",
  },
  outdir: out,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  conditions: ["@shoal/source"],
  plugins: [withoutLocales],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  define: { "import.meta.url": "importMetaUrl" },
  banner: { js: 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
});
await copyFile("python/runner.py", `${out}/runner.py`);
await writeFile(`${out}/THIRD-PARTY-LICENCES.txt`, licenceNotices("This program", bundledFiles(metafile)));
await rm("dist/program", { recursive: true, force: true });
await rename(out, "dist/program");
