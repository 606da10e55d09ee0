import { build } from "esbuild";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";

// Whoever runs the program meanwhile, or after a build that failed, keeps the earlier one.
const out = `dist/.program-${process.pid}`;

/**
 * One file each, loaded when it is first needed, so that a session pays only for what it uses: the start, and every module of this
 * package that is imported by `import()`. What two of them need is in both, so it must keep no state at its top level.
 * @type {Map<string, string>}
 */
const parts = new Map([["start", resolve("src/start.ts")]]);

/**
 * Leaves the other parts out of a part, and remembers them.
 * @type {import("esbuild").Plugin}
 */
const apart = {
  name: "parts apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const file = resolve(resolveDir, path);
      const name = basename(file, ".ts");
      if ((parts.get(name) ?? file) !== file) throw new Error(`Two modules that are imported by import() are called ${name}.`);
      parts.set(name, file);
      return { path: `./${name}.cjs`, external: true };
    });
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

/**
 * Playwright looks for two files of its own beside itself; in one file, they have to be in it.
 * @type {import("esbuild").Plugin}
 */
const playwrightWhole = {
  name: "playwright whole",
  setup({ onLoad }) {
    onLoad({ filter: /playwright-core[\\/]lib[\\/]coreBundle\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const whole = source.replaceAll(/require\(\w+\.default\.join\(packageRoot, "(package\.json|browsers\.json)"\)\)/g, 'require("../$1")');
      if (whole.split('require("../').length !== 3) throw new Error("This version of playwright-core asks for its files in another way.");
      return { contents: whole };
    });
  },
};

// A Map's loop also visits what is added meanwhile.
for (const [part, file] of parts) {
  await build({
    entryPoints: { [part]: file },
    outdir: out,
    bundle: true,
    platform: "node",
    target: "node24",
    // CommonJS loads 20 ms faster than ES modules, and most of a start is loading. `import()` would load their loader too.
    format: "cjs",
    supported: { "dynamic-import": false },
    outExtension: { ".js": ".cjs" },
    conditions: ["@shoal/source"],
    plugins: [apart, withoutLocales, playwrightWhole],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "linked",
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
    logLevel: "warning",
  });
}
// What runs in the page that encodes recordings; a file of its own, since the instance only hands it on.
await build({
  entryPoints: ["src/replays/encoder-page.ts"],
  outfile: `${out}/encoder-page.js`,
  bundle: true,
  platform: "browser",
  format: "iife",
  minify: true,
  legalComments: "linked",
  logLevel: "warning",
});
// Pages for people, each one document without anything else to load: the service hands them out as they are.
for (const [name, folder] of [
  ["live-view", "src/live-view/page"],
  ["replay", "src/replays/page"],
]) {
  const page = await build({
    entryPoints: [`${folder}/page.ts`, `${folder}/page.css`],
    outdir: out,
    write: false,
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "iife",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
  const text = (ending) => page.outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const html = await readFile(`${folder}/page.html`, "utf8");
  await writeFile(
    `${out}/${name}.html`,
    html.replace("/* page.css */", () => text(".css")).replace("/* page.js */", () => text(".js").replaceAll("</script", "<\\/script")),
  );
}
// Playwright is handed on with the program, so what its licences ask for is too; x11 names its own nowhere in its files.
await writeFile(`${out}/session-display.cjs.LEGAL.txt`, await readFile("node_modules/x11/LICENSE", "utf8"));
const notices = ["LICENSE", "NOTICE", "ThirdPartyNotices.txt"].map((name) => readFile(`node_modules/playwright-core/${name}`, "utf8"));
await writeFile(`${out}/playwright-core.LEGAL.txt`, (await Promise.all(notices)).join("\n"));
await rm("dist/program", { recursive: true, force: true });
await rename(out, "dist/program");
