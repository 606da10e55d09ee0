import { build } from "esbuild";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { bundledFiles, licenceNotices } from "../../tools/licences.mjs";

// The previous program stays in place during the build, and after a failed build.
const out = `dist/.program-${process.pid}`;

/**
 * Modules with a separate bundle: the start, and each module that is imported by `import()`. A session loads only the
 * parts that it uses. A module that two parts import is in both, so it must not keep state at its top level.
 * @type {Map<string, string>}
 */
const parts = new Map([
  ["start", resolve("src/main/start.ts")],
  // A thread loads it by its name.
  ["markdown-worker", resolve("src/operations/pages/text/markdown-worker.ts")],
]);

/**
 * Keeps other parts out of a part, and adds them to the list.
 * @type {import("esbuild").Plugin}
 */
const apart = {
  name: "parts apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const file = resolve(resolveDir, path);
      const name = basename(file, ".ts");
      if ((parts.get(name) ?? file) !== file)
        throw new Error(`Two parts are named ${name}: rename one of the modules.`);
      parts.set(name, file);
      return { path: `./${name}.cjs`, external: true };
    });
  },
};

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

/**
 * Playwright requires two JSON files next to itself at run time; they have to be in the bundle.
 * @type {import("esbuild").Plugin}
 */
const playwrightWhole = {
  name: "playwright whole",
  setup({ onLoad }) {
    onLoad({ filter: /playwright-core[\\/]lib[\\/]coreBundle\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const whole = source.replaceAll(
        /require\(\w+\.default\.join\(packageRoot, "(package\.json|browsers\.json)"\)\)/g,
        'require("../$1")',
      );
      if (whole.split('require("../').length !== 3)
        throw new Error("This version of playwright-core loads its files in another way: adapt the pattern.");
      return { contents: whole };
    });
  },
};

const inputs = new Set();
/** @param {import("esbuild").BuildOptions} options */
async function bundle(options) {
  const result = await build({ bundle: true, legalComments: "none", metafile: true, logLevel: "warning", ...options });
  for (const path of bundledFiles(result.metafile)) inputs.add(path);
  return result;
}

/** Parts of Node that take milliseconds to load. Most sessions need none: use `import()` where one is needed. */
const slowModules = ["node:crypto", "node:http2", "node:https", "node:tls"];
/** The parts that every session loads. */
const everywhere = ["start", "program"];

/** @param {import("esbuild").Metafile} metafile */
function refuseSlow({ inputs: files, outputs }) {
  for (const file of Object.values(outputs).flatMap((output) => Object.keys(output.inputs))) {
    const slow = files[file]?.imports.find(({ path, kind }) => slowModules.includes(path) && kind !== "dynamic-import");
    if (slow) throw new Error(`${file} makes every session load ${slow.path}: use import() there or above it.`);
  }
}

for (const [part, file] of parts) {
  const { metafile } = await bundle({
    entryPoints: { [part]: file },
    outdir: out,
    platform: "node",
    target: "node24",
    // CommonJS loads 20 ms faster than ES modules. `import()` would load the loader of ES modules as well.
    format: "cjs",
    supported: { "dynamic-import": false },
    outExtension: { ".js": ".cjs" },
    conditions: ["@shoal/source"],
    plugins: [apart, withoutLocales, playwrightWhole],
    minifySyntax: true,
    minifyWhitespace: true,
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
  });
  if (metafile && everywhere.includes(part)) refuseSlow(metafile);
}
await bundle({
  entryPoints: ["src/operations/replays/encoder-page.ts"],
  outfile: `${out}/encoder-page.js`,
  platform: "browser",
  format: "iife",
  minify: true,
});
// A page for people: one document with its style and script.
for (const [name, folder] of [["live-view", "src/clients/live-view/page"]]) {
  const page = await bundle({
    entryPoints: [`${folder}/page.ts`, `${folder}/page.css`],
    outdir: out,
    write: false,
    platform: "browser",
    target: "es2022",
    format: "iife",
    minify: true,
  });
  const text = (ending) => page.outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const html = await readFile(`${folder}/page.html`, "utf8");
  await writeFile(
    `${out}/${name}.html`,
    html
      .replace("/* page.css */", () => text(".css"))
      .replace("/* page.js */", () => text(".js").replaceAll("</script", "<\\/script")),
  );
}
await writeFile(`${out}/THIRD-PARTY-LICENCES.txt`, licenceNotices("This program", [...inputs]));
await rm("dist/program", { recursive: true, force: true });
await rename(out, "dist/program");
