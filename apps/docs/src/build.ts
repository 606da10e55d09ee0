// Builds the site into dist: pages as HTML and Markdown, pictures, scripts and the text of the search. Texts are
// compressed with Brotli only; the service decompresses them for the few clients that need it.
// Usage: node src/build.ts [--quick] [FOLDER], which also gets a copy. --quick compresses less, in a sixth of the time.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { commandUsages } from "./reference/commands.ts";
import type { OpenApi } from "./reference/openapi.ts";
import { referencePages } from "./reference/reference-pages.ts";
import { buildSite } from "./site/build-site.ts";
import { linkedFiles } from "./site/linked-files.ts";
import { guidePage, homeSource, readGroups, repositoryIn } from "./site/sources.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { quick: { type: "boolean" } } });
const root = join(import.meta.dirname, "../../..");
const dist = join(import.meta.dirname, "../dist");
const unfinished = `${dist}.${process.pid}`;
const repository = repositoryIn(root);
const parse = (path: string): unknown => JSON.parse(repository.read(path));

function write(path: string, content: string | Uint8Array): void {
  const target = join(unfinished, `${path}.br`);
  mkdirSync(dirname(target), { recursive: true });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: values.quick === true ? 7 : 11,
    [constants.BROTLI_PARAM_LGWIN]: 22,
  };
  writeFileSync(target, brotliCompressSync(content, { params }));
}

/** @returns the names of the written scripts and the style by their source, relative to the site */
async function buildAssets(): Promise<ReadonlyMap<string, string>> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: import.meta.dirname,
    entryPoints: ["browser/main.ts", "browser/theme.ts", "browser/style.css"],
    outdir: join(unfinished, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  for (const { contents, path } of outputFiles) write(path.slice(unfinished.length + 1), contents);
  return new Map(
    Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, `assets/${path.slice(path.lastIndexOf("/") + 1)}`] as const],
    ),
  );
}

const groups = readGroups(repository);
const home = homeSource(repository);
const commands = commandUsages(repository.read("docs/operations.md"), repository.read("docs/cli.md"));
const reference = referencePages(parse("packages/contract/openapi.json") as OpenApi, commands);
const others = [guidePage(repository)];
const pages = [...groups.flatMap((group) => group.pages), ...others];
const files = linkedFiles(pages, repository.list("docs/{images,service}/*"));
const { version } = parse("apps/server/package.json") as { version: string };
const site = buildSite({
  version,
  groups,
  others,
  api: [reference.index, ...reference.areas],
  home,
  files,
  // The image is built without tests and other sources. A test of the guide checks links to these.
  exists: (path) => !path.startsWith("docs/") || existsSync(join(root, path)),
});

rmSync(unfinished, { recursive: true, force: true });
const assets = await buildAssets();
const assetOf = (source: string) => assets.get(source) ?? "";
const search = `assets/search-${createHash("sha256").update(site.search).digest("hex").slice(0, 8)}.json`;
write(search, site.search);
const named = {
  style: assetOf("browser/style.css"),
  theme: assetOf("browser/theme.ts"),
  script: assetOf("browser/main.ts"),
  search,
};
for (const [path, text] of site.pages(named)) write(path, text);
write("third-party-licences.txt", readFileSync(join(import.meta.dirname, "../node_modules/minisearch/LICENSE.txt")));
write("icon.svg", readFileSync(join(import.meta.dirname, "icon.svg")));
for (const file of files) {
  const source = join(root, "docs", file);
  if (!/\.(?:webp|png|gif)$/.test(file)) {
    write(file, readFileSync(source));
    continue;
  }
  mkdirSync(dirname(join(unfinished, file)), { recursive: true });
  copyFileSync(source, join(unfinished, file));
}
/** Replaces a folder at once, because a service may be reading it. */
function replace(folder: string, by: string): void {
  rmSync(folder, { recursive: true, force: true });
  renameSync(by, folder);
}

replace(dist, unfinished);
const [copy] = positionals;
if (copy !== undefined) {
  cpSync(dist, `${copy}.${process.pid}`, { recursive: true });
  replace(copy, `${copy}.${process.pid}`);
}
