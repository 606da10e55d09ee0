// Bundles the command into dist/: one file for `--help`, further ones that are loaded when a command runs. The tables of commands are
// made here from openapi.json, so that no command loads a schema library: an index, and a table for each first word.
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { builtinsWithoutFacade } from "./src/build/builtins.ts";
import { licenceNotices } from "./src/build/licences.ts";
import { splitTable } from "./src/build/split-table.ts";
import { commandTable } from "./src/command-table.ts";
import { groups } from "./src/groups.ts";
import { polish } from "./src/polish.ts";
import { operationsNotYet } from "../../tools/not-yet.mjs";

const { metafile } = await build({
  entryPoints: ["src/shoal.ts", "src/service.ts", "src/plugin.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["@shoal/source"],
  // The service is a package of its own; libraries stay where npm installs them.
  external: ["@shoal/server", "@napi-rs/keyring"],
  packages: "bundle",
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  banner: { js: 'const require = globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
  logLevel: "warning",
});
for (const name of Object.keys(metafile.outputs)) if (name.endsWith(".js")) writeFileSync(name, builtinsWithoutFacade(readFileSync(name, "utf8")));
writeFileSync("dist/THIRD-PARTY-LICENCES.txt", licenceNotices(Object.keys(metafile.inputs)));

const document = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("@shoal/contract/openapi.json"), "utf8"));
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
mkdirSync("dist/commands", { recursive: true });
const split = splitTable(commandTable(document, polish), groups, { version, notYet: operationsNotYet });
const tables = { index: split.index, ...split.tables };
for (const [name, table] of Object.entries(tables)) writeFileSync(join("dist/commands", `${name}.json`), JSON.stringify(table));
// Of earlier builds. Not before this one was written: a command that runs meanwhile may still load them.
for (const name of readdirSync("dist/chunks"))
  if (!(posix.join("dist", "chunks", name) in metafile.outputs)) rmSync(posix.join("dist", "chunks", name));
for (const name of readdirSync("dist/commands")) if (!(name.replace(/\.json$/, "") in tables)) rmSync(join("dist", "commands", name));
