// Bundles what a user's program would bundle, for size-limit to weigh: only what is loaded at once counts, not what a first use loads.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "node_modules/.cache/bundle-sizes");
const programs = {
  "one-get": 'import { createTransport } from "@shoal/transport"; import { getProfile } from "@shoal/contract"; export const get = (id) => createTransport({ baseUrl: "", apiKey: "" }).call(getProfile, { params: { id_or_name: id } });',
  client: 'export { Shoal } from "@shoal/client";',
};

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, contents] of Object.entries(programs)) {
  const outdir = join(folder, name);
  const { metafile } = await build({
    stdin: { contents, resolveDir: join(root, "packages/client"), sourcefile: `${name}.js` },
    outdir,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    metafile: true,
    logLevel: "warning",
  });
  const outputs = new Map(Object.entries(metafile.outputs));
  const initial = new Set();
  const visit = (path) => {
    if (initial.has(path)) return;
    initial.add(path);
    for (const { path: imported, kind } of outputs.get(path)?.imports ?? []) if (kind === "import-statement") visit(imported);
  };
  // What is imported dynamically is an entry point of its own to esbuild.
  for (const [path, { entryPoint }] of outputs) if (entryPoint?.endsWith(`${name}.js`)) visit(path);
  writeFileSync(join(folder, `${name}.js`), [...initial].map((path) => readFileSync(path, "utf8")).join("\n"));
}
