// Bundles typical programs for size-limit, and prints their sizes next to those of @onkernel/sdk:
// - NAME.js: loaded with the program;
// - NAME-call.js: that, and what the first call loads (ky);
// - NAME-whole.js: that, and what few programs use (event streams, uploads, downloads).
// It also writes console-first-load.txt and replay-first-load.txt: scripts and styles of the console's start page, and of the page of a recording.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "node_modules/.cache/bundle-sizes");
const call = (endpoint, request) =>
  `import { createTransport } from "@shoal/transport"; import { ${endpoint} } from "@shoal/contract"; export const run = (id, body) => createTransport({ baseUrl: "", apiKey: "" }).call(${endpoint}, ${request});`;
const programs = [
  {
    name: "one-get",
    what: "one GET over @shoal/transport",
    contents: call("getProfile", "{ params: { id_or_name: id } }"),
  },
  {
    name: "browsers-create",
    what: "browsers.create over @shoal/transport",
    contents: call("createBrowser", "{ body }"),
  },
  {
    name: "client",
    what: "the whole @shoal/client, answers checked",
    contents: 'export { Shoal } from "@shoal/client";',
  },
  {
    name: "agent-tools",
    what: "tools of a session for an agent SDK",
    contents: 'export { browserTools } from "@shoal/client/ai-sdk";',
  },
  {
    name: "onkernel-sdk",
    what: "the whole @onkernel/sdk, unchecked",
    contents: 'export { default } from "@onkernel/sdk";',
    resolveDir: "apps/e2e",
  },
];

const kilobytes = (text) => (gzipSync(text, { level: 9 }).length / 1000).toFixed(1).padStart(5);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, what, contents, resolveDir = "packages/client" } of programs) {
  const bundled = (splitting) =>
    build({
      stdin: { contents, resolveDir: join(root, resolveDir), sourcefile: `${name}.js` },
      outdir: folder,
      bundle: true,
      minify: true,
      splitting,
      format: "esm",
      platform: "browser",
      target: "es2022",
      metafile: true,
      write: false,
      absWorkingDir: root,
      logLevel: "error",
    });
  const { metafile, outputFiles } = await bundled(true);
  const outputs = new Map(Object.entries(metafile.outputs));
  const reachable = new Set();
  const visit = (path) => {
    if (reachable.has(path)) return;
    reachable.add(path);
    for (const { path: imported, kind } of outputs.get(path)?.imports ?? [])
      if (kind === "import-statement") visit(imported);
  };
  const texts = new Map(outputFiles.map((file) => [file.path, file.text]));
  const write = (suffix, text) => {
    writeFileSync(join(folder, `${name}${suffix}.js`), text);
    return kilobytes(text);
  };
  const written = (suffix) => write(suffix, [...reachable].map((path) => texts.get(join(root, path))).join("\n"));
  for (const [path, { entryPoint }] of outputs) if (entryPoint?.endsWith(`${name}.js`)) visit(path);
  const atOnce = written("");
  for (const [path, { inputs }] of outputs) if (Object.keys(inputs).some((input) => /\/ky\//.test(input))) visit(path);
  const withCall = written("-call");
  const whole = write("-whole", (await bundled(false)).outputFiles.map((file) => file.text).join("\n"));
  console.log(`${atOnce} kB at once, ${withCall} after a call, ${whole} in all  ${what}`);
}

const consoleFolder = join(root, "apps/console/dist");
const pages = [
  {
    name: "console",
    what: "the start page of the console",
    manifest: "manifest.json",
    entries: ["index.html", "src/pages/home/home-page.tsx"],
  },
  { name: "replay", what: "the page of a recording", manifest: "replay.json", entries: ["replay.html"] },
];
for (const { name, what, manifest: file, entries } of pages) {
  const manifest = JSON.parse(readFileSync(join(consoleFolder, ".vite", file), "utf8"));
  const loaded = new Set();
  const load = (entry) => {
    const { file, css = [], imports = [] } = manifest[entry];
    if (loaded.has(file)) return;
    for (const path of [file, ...css]) loaded.add(path);
    imports.forEach(load);
  };
  entries.forEach(load);
  const firstLoad = [...loaded].map((path) => readFileSync(join(consoleFolder, path), "utf8")).join("\n");
  writeFileSync(join(folder, `${name}-first-load.txt`), firstLoad);
  console.log(`${kilobytes(firstLoad)} kB at once  ${what}`);
}
